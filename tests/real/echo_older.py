"""An echo server on the Python SDK 1.x, over the transports that newer SDKs leave out: `sse PORT`, `ws PORT`."""

import asyncio
import sys

import uvicorn
from mcp.server.fastmcp import FastMCP
from mcp.server.websocket import websocket_server
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

server = FastMCP("echo")


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def slow_async(ms: int) -> str:
    await asyncio.sleep(ms / 1000)
    return "done"


async def converse(websocket):
    inner = server._mcp_server
    async with websocket_server(websocket.scope, websocket.receive, websocket.send) as streams:
        await inner.run(*streams, inner.create_initialization_options())


if __name__ == "__main__":
    transport, port = sys.argv[1], int(sys.argv[2])
    if transport == "sse":
        server.settings.host, server.settings.port = "127.0.0.1", port
        server.run(transport="sse")
    else:
        app = Starlette(routes=[WebSocketRoute("/ws", converse)])
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
