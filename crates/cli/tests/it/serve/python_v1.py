"""The Python SDK before 2.0 against `serve --mcp`: `python_v1.py URL`, or `python_v1.py COMMAND WORD...`.

Prints one JSON report; crates/cli/tests/it/serve/clients.rs says what must be in it.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification


async def cancel(session, told, on_progress):
    """This SDK leaves it to its user to tell the server."""
    request = session._request_id
    load = {"server": "healthy", "tool": "echo", "duration_secs": 60}
    long = asyncio.create_task(session.call_tool("sustained_load", load, progress_callback=on_progress))
    seen = len(told)
    while len(told) == seen:
        await asyncio.sleep(0.01)
    params = CancelledNotificationParams(requestId=request)
    notification = CancelledNotification(method="notifications/cancelled", params=params)
    await session.send_notification(ClientNotification(notification))
    long.cancel()
    await asyncio.gather(long, return_exceptions=True)
    return long.cancelled()


async def visit(*target):
    told = []

    async def on_progress(done, total, message):
        told.append(done)

    if target[0].startswith("http"):
        transport = streamable_http_client(target[0])
    else:
        transport = stdio_client(StdioServerParameters(command=target[0], args=list(target[1:])))
    async with transport as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        probe = {"tool": "echo", "concurrent": 3, "hang_threshold_secs": 0.3, "grace_period_secs": 0.3}
        deadlocked = await session.call_tool("deadlock_probe", {"server": "deadlocked", **probe}, progress_callback=on_progress)
        refused = await session.call_tool("probe", {"server_command": "sh -c id"})
        cancelled = await cancel(session, told, on_progress)
        # The seat is free again once the run has ended.
        while True:
            healthy = await session.call_tool("deadlock_probe", {"server": "healthy", "tool": "echo", "concurrent": 3})
            if not healthy.isError:
                break
        return {
            "tools": [tool.name for tool in tools],
            "schemas": all(tool.outputSchema for tool in tools),
            "deadlocked": deadlocked.structuredContent["deadlock_count"],
            "healthy": healthy.structuredContent["deadlock_count"],
            "refused": [refused.isError, refused.content[0].text],
            "cancelled": cancelled,
            "told": len(told) > 0,
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
