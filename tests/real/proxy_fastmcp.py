"""FastMCP as a gateway over stdio, in front of the server at the URL that is its argument."""

import sys

from fastmcp.server import create_proxy

if __name__ == "__main__":
    create_proxy(sys.argv[1], name="proxy").run(show_banner=False)
