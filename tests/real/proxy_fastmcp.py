"""FastMCP as a gateway in front of the server at URL: over stdio, or over Streamable HTTP with PORT.

proxy_fastmcp.py URL [PORT]
"""

import sys

from fastmcp.server import create_proxy

if __name__ == "__main__":
    proxy = create_proxy(sys.argv[1], name="proxy")
    if len(sys.argv) > 2:
        proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
    else:
        proxy.run(show_banner=False)
