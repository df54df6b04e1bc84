"""The Python SDK from 2.0 on against an MCP server: `python_v2.py MODE URL`, or `python_v2.py MODE COMMAND WORD...`.

Prints one JSON report; crates/cli/tests/it/clients/mod.rs says what must be in it.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def fail(client):
    try:
        await client.call_tool("error", {"message": "boom", "code": -32050})
    except MCPError as error:
        return [error.error.code, error.error.message]


async def progress(client):
    events = []

    async def on_progress(done, total, message):
        events.append(message)

    result = await client.call_tool(
        "progress", {"steps": 3, "step_ms": 100}, progress_callback=on_progress
    )
    return {"told": events, "sent": json.loads(result.content[0].text)["notified"]}


async def cancel(client):
    call = asyncio.create_task(client.call_tool("slow", {"milliseconds": 60000}))
    await asyncio.sleep(0)  # The task begins.
    for _ in range(5):  # Whatever is answered now was sent later than the call.
        await client.call_tool("echo", {})
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    return call.cancelled()


async def visit(mode, *target):
    is_url = target[0].startswith("http")
    command = StdioServerParameters(command=target[0], args=list(target[1:]))
    async with Client(target[0] if is_url else command, mode=mode) as client:
        message = json.loads(sys.stdin.read())
        echoed = await client.call_tool("echo", {"message": message})
        wrong = await client.call_tool("error", {"message": "boom", "as_tool": True})
        return {
            "tools": [tool.name for tool in (await client.list_tools()).tools][:3],
            "echo": json.loads(echoed.content[0].text),
            "protocol_error": await fail(client),
            "tool_error": [wrong.is_error, wrong.content[0].text],
            "progress": await progress(client),
            "cancelled": await cancel(client),
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
