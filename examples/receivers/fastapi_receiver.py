"""A webhook receiver with FastAPI: `pip install fastapi uvicorn`, and receiver.py beside this file.

    WEBHOOK_SECRET=… uvicorn fastapi_receiver:app --port 4000

During a rotation, WEBHOOK_SECRET has both keys, separated by a space. A key that begins with `whpk_` also needs
`pip install cryptography`.
"""

import json
import os

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from receiver import verify

MAX_BODY = 1_048_576
SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
if not SECRETS:
    raise SystemExit("Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.")

app = FastAPI()


# Not a parameter with a Pydantic model, for which FastAPI parses the body.
@app.post("/webhooks")
async def receive(request: Request) -> Response:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return Response(status_code=413)
    except ClientDisconnect:
        return Response(status_code=400)
    if not any(verify(bytes(body), request.headers, each) for each in SECRETS):
        return Response(status_code=401)
    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    print(request.headers["webhook-id"], json.loads(body)["event"], flush=True)
    return Response(status_code=200)
