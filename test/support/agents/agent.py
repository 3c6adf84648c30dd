"""An agent with the unmodified Python client of MCP.

Reads requests from standard input, one JSON object per line: {"tool": …, "arguments": …}, or {} for the list of tools. Prints each
result as one line. The first line is the negotiated revision of the protocol.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    url, mode = sys.argv[1:]
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        print(client.protocol_version, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            tool = request.get("tool")
            result = await (client.call_tool(tool, request["arguments"]) if tool else client.list_tools())
            print(result.model_dump_json(by_alias=True, exclude_none=True), flush=True)


asyncio.run(main())
