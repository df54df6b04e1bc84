"""The Python SDK before 2.0 against an MCP server: `python_v1.py URL`, or `python_v1.py COMMAND WORD...`.

Prints one JSON report; crates/cli/tests/it/clients/mod.rs says what must be in it.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification


@asynccontextmanager
async def connect(target):
    if target[0].startswith("http"):
        transport = streamable_http_client(target[0])
    else:
        transport = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    async with transport as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        yield session


async def fail(session):
    try:
        await session.call_tool("error", {"message": "boom", "code": -32050})
    except McpError as error:
        return [error.error.code, error.error.message]


async def progress(session):
    events = []

    async def on_progress(done, total, message):
        events.append(message)

    result = await session.call_tool(
        "progress", {"steps": 3, "step_ms": 100}, progress_callback=on_progress
    )
    return {"told": events, "sent": json.loads(result.content[0].text)["notified"]}


async def cancel(session):
    """This SDK leaves it to its user to tell the server."""
    request = session._request_id
    call = asyncio.create_task(session.call_tool("slow", {"milliseconds": 60000}))
    await asyncio.sleep(0)  # The task begins.
    for _ in range(5):  # Whatever is answered now was sent later than the call.
        await session.call_tool("echo", {})
    params = CancelledNotificationParams(requestId=request)
    notification = CancelledNotification(method="notifications/cancelled", params=params)
    await session.send_notification(ClientNotification(notification))
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    return call.cancelled()


async def visit(*target):
    async with connect(target) as session:
        message = json.loads(sys.stdin.read())
        echoed = await session.call_tool("echo", {"message": message})
        wrong = await session.call_tool("error", {"message": "boom", "as_tool": True})
        return {
            "tools": [tool.name for tool in (await session.list_tools()).tools][:3],
            "echo": json.loads(echoed.content[0].text),
            "protocol_error": await fail(session),
            "tool_error": [wrong.isError, wrong.content[0].text],
            "progress": await progress(session),
            "cancelled": await cancel(session),
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
