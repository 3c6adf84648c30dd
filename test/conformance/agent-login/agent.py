"""An agent with the Python client of MCP, version 1 or 2, or with FastMCP. See journey.mjs."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

ADDRESS, BROWSER = os.environ["ADDRESS"], os.environ["BROWSER"]
CLIENT_ID, DOCUMENT_URL = os.environ.get("CLIENT_ID"), os.environ.get("DOCUMENT_URL")
REDIRECT_URI = "http://127.0.0.1:7777/callback"
TOOL = "get_connection_info"


class Storage:
    def __init__(self, client):
        self.tokens, self.client = None, client

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(version):
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

    returned = {}

    async def open_page(url):
        page = await asyncio.create_subprocess_exec(BROWSER, url, stdout=subprocess.PIPE)
        location = (await page.communicate())[0].decode().strip()
        returned.update({name: values[0] for name, values in parse_qs(urlsplit(location).query).items()})

    async def wait_for_return():
        if version == "1":
            return returned.get("code"), returned.get("state")
        from mcp.shared.auth import AuthorizationCodeResult

        return AuthorizationCodeResult(
            code=returned.get("code", ""), state=returned.get("state"), iss=returned.get("iss")
        )

    details = {
        "client_name": f"Python client {version}",
        "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none",
        "scope": "accounts:read sign_in_links:write offline_access",
    }
    registered = OAuthClientInformationFull(client_id=CLIENT_ID, **details) if CLIENT_ID else None
    return OAuthClientProvider(
        ADDRESS,
        OAuthClientMetadata(**details),
        Storage(registered),
        open_page,
        wait_for_return,
        client_metadata_url=DOCUMENT_URL,
    )


@asynccontextmanager
async def connect_1(_mode):
    from mcp import ClientSession
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    async with (
        create_mcp_http_client(auth=provider("1")) as http,
        streamable_http_client(ADDRESS, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        yield session, (await session.initialize()).protocolVersion


@asynccontextmanager
async def connect_2(mode):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(auth=provider("2"), follow_redirects=True) as http,
        Client(streamable_http_client(ADDRESS, http_client=http), mode=mode) as client,
    ):
        yield client, client.protocol_version


@asynccontextmanager
async def connect_fastmcp(mode):
    from fastmcp import Client
    from fastmcp.client.auth import OAuth

    # Makes the module webbrowser not wait for the end of the program.
    os.environ["BROWSER"] = f"{BROWSER} %s &"
    login = OAuth(
        client_metadata_url=DOCUMENT_URL, client_id=CLIENT_ID, callback_port=int(os.environ["PORT"])
    )
    async with Client(ADDRESS, auth=login, mode=mode) as client:
        yield client, client.protocol_version


async def call(client):
    result = await client.call_tool(TOOL, {})
    return {"environment": json.loads(result.content[0].text)["environment"]}


def report(line):
    print(json.dumps(line), flush=True)


async def main():
    version, mode = sys.argv[1:]
    async with globals()[f"connect_{version}"](mode) as (client, revision):
        tools = await client.list_tools()
        count = len(tools if isinstance(tools, list) else tools.tools)
        report({"revision": revision, "tools": count, **await call(client)})
        await asyncio.sleep(int(os.environ["TOKEN_LIFETIME"]) / 1000 + 1)
        report(await call(client))
        await asyncio.to_thread(sys.stdin.readline)
        try:
            await call(client)
            report({})
        except BaseException as error:
            report({"error": repr(error)})
        finally:
            os._exit(0)


asyncio.run(main())
