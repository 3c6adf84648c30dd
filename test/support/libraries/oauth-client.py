"""Gets a token for an API key with Authlib, and sends a request with it."""

import json
import sys

from authlib.integrations.httpx_client import OAuth2Client

base_url, client_id, key, scope, path = sys.argv[1:]
with OAuth2Client(client_id, key, scope=scope) as client:
    token = client.fetch_token(f"{base_url}/oauth/token", grant_type="client_credentials")
    status = client.get(base_url + path).status_code
print(json.dumps({"token": token, "status": status}))
