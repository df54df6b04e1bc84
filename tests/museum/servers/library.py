"""A library's catalogue on the Python SDK, 1.x and 2.x: stdio, or streamable HTTP with `--port`."""

import argparse
import asyncio

try:
    from mcp.server.mcpserver import MCPServer

    IS_V2 = True
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

    IS_V2 = False

BOOKS = {"Emma": "Jane Austen", "Middlemarch": "George Eliot", "Walden": "Henry David Thoreau"}
BRANCHES = ["north", "river", "station"]
BRANCH_DELAY_S = 0.5  # What a branch takes to look at its shelves.

server = MCPServer("library")


@server.tool()
def search_titles(text: str) -> str:
    """Lists the titles that contain a text."""
    return "\n".join(title for title in BOOKS if text.lower() in title.lower()) or "no such title"


@server.tool()
async def check_availability(title: str) -> str:
    """Asks every branch whether a book is on its shelves."""
    for _branch in BRANCHES:
        await asyncio.sleep(BRANCH_DELAY_S)
    return f"{title}: {len(BRANCHES) if title in BOOKS else 0} copies"


@server.resource("library://{title}")
def book(title: str) -> str:
    """Who wrote a book."""
    return BOOKS.get(title, "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int)
    parser.add_argument("--stateless", action="store_true")
    arguments = parser.parse_args()
    if arguments.port is None:
        server.run()
    elif IS_V2:
        settings = {"host": "127.0.0.1", "port": arguments.port, "stateless_http": arguments.stateless}
        server.run(transport="streamable-http", **settings)
    else:
        server.settings.port = arguments.port
        server.settings.stateless_http = arguments.stateless
        server.run(transport="streamable-http")


if __name__ == "__main__":
    main()
