"""An echo server on the Python SDK, 1.x and 2.x: stdio, or streamable HTTP with `PORT [stateless]`.

The slow tools differ in what else can run meanwhile: `slow_sync` blocks its thread, `slow_async` does not.
"""

import asyncio
import sys
import time

try:
    from mcp.server.mcpserver import MCPServer as Server

    IS_V2 = True
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

    IS_V2 = False

server = Server("echo")


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def slow_sync(ms: int) -> str:
    time.sleep(ms / 1000)
    return "done"


@server.tool()
async def slow_async(ms: int) -> str:
    await asyncio.sleep(ms / 1000)
    return "done"


def serve_http(port, stateless):
    if IS_V2:
        server.run(transport="streamable-http", host="127.0.0.1", port=port, stateless_http=stateless)
        return
    server.settings.host = "127.0.0.1"
    server.settings.port = port
    server.settings.stateless_http = stateless
    server.run(transport="streamable-http")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve_http(int(sys.argv[1]), "stateless" in sys.argv[2:])
    else:
        server.run()
