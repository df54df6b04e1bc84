"""An echo server on FastMCP: stdio, or streamable HTTP with `PORT`. Same tools as echo_mcp.py."""

import asyncio
import sys
import time

from fastmcp import FastMCP

server = FastMCP("echo")


@server.tool
def echo(text: str) -> str:
    return text


@server.tool
def slow_sync(ms: int) -> str:
    time.sleep(ms / 1000)
    return "done"


@server.tool
async def slow_async(ms: int) -> str:
    await asyncio.sleep(ms / 1000)
    return "done"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run(show_banner=False)
