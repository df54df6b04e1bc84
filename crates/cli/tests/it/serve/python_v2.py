"""The Python SDK from 2.0 on against `serve --mcp`: `python_v2.py MODE URL`, or `python_v2.py MODE COMMAND WORD...`.

Prints one JSON report; crates/cli/tests/it/serve/clients.rs says what must be in it.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def visit(mode, *target):
    is_url = target[0].startswith("http")
    command = StdioServerParameters(command=target[0], args=list(target[1:]))
    told = []

    async def on_progress(done, total, message):
        told.append(done)

    async with Client(target[0] if is_url else command, mode=mode) as client:
        tools = (await client.list_tools()).tools
        deadlocked = await client.call_tool(
            "deadlock_probe",
            {"server": "deadlocked", "tool": "echo", "concurrent": 3, "hang_threshold_secs": 0.3, "grace_period_secs": 0.3},
            progress_callback=on_progress,
        )
        refused = await client.call_tool("probe", {"server_command": "sh -c id"})
        long = asyncio.create_task(
            client.call_tool("sustained_load", {"server": "healthy", "tool": "echo", "duration_secs": 60}, progress_callback=on_progress)
        )
        seen = len(told)
        while len(told) == seen:
            await asyncio.sleep(0.01)
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        # The seat is free again once the run has ended.
        while True:
            healthy = await client.call_tool("deadlock_probe", {"server": "healthy", "tool": "echo", "concurrent": 3})
            if not healthy.is_error:
                break
        return {
            "tools": [tool.name for tool in tools],
            "schemas": all(tool.output_schema for tool in tools),
            "deadlocked": deadlocked.structured_content["deadlock_count"],
            "healthy": healthy.structured_content["deadlock_count"],
            "refused": [refused.is_error, refused.content[0].text],
            "cancelled": long.cancelled(),
            "told": len(told) > 0,
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
