"""The official Python client against an MCP server: `python_client.py URL MODE`, its report on stdout."""

import asyncio
import json
import sys

from mcp import Client


async def visit(url, mode):
    async with Client(url, mode=mode) as client:
        listed = await client.list_tools()
        called = await client.call_tool("echo", {"text": "grüße"})
        wrong = await client.call_tool("echo", {"message": 5})
        return {
            "version": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "tools": listed.tools[0].name,
            "read_only": listed.tools[0].annotations.read_only_hint,
            "text": json.loads(called.content[0].text),
            "errors": [called.is_error, wrong.is_error],
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
