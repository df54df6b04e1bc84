"""A photo archive on fastmcp or the Python SDK, 1.x and 2.x, over stdio. Its scanner blocks."""

import time

try:
    from fastmcp import FastMCP as MCPServer
except ImportError:
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        from mcp.server.fastmcp import FastMCP as MCPServer

SCAN_S = 1.5
PHOTOS = {"bridge": "1931, silver gelatin", "harbour": "1954, colour slide"}

server = MCPServer("archive")


@server.tool()
def list_photos() -> str:
    """Lists the photos of the archive."""
    return "\n".join(sorted(PHOTOS))


@server.tool()
def read_scan(photo: str) -> str:
    """Scans a photo and describes it."""
    time.sleep(SCAN_S)
    return PHOTOS.get(photo, "an empty frame")


if __name__ == "__main__":
    server.run()
