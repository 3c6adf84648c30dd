"""A webhook receiver with Flask: `pip install flask`, and receiver.py beside this file.

    WEBHOOK_SECRET=… flask --app flask_receiver run --port 4000

During a rotation, WEBHOOK_SECRET has both keys, separated by a space. A key that begins with `whpk_` also needs
`pip install cryptography`.
"""

import os

from flask import Flask, request

from receiver import verify

SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
if not SECRETS:
    raise SystemExit("Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.")

app = Flask(__name__)
# Flask responds with 413 to larger bodies.
app.config["MAX_CONTENT_LENGTH"] = 1_048_576


@app.post("/webhooks")
def receive():
    # Not `request.get_json()` or `request.form`, after which the bytes may be gone.
    body = request.get_data()
    if not any(verify(body, request.headers, each) for each in SECRETS):
        return "", 401
    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    app.logger.warning("%s %s", request.headers["webhook-id"], request.get_json()["event"])
    return "", 200
