"""A webhook receiver with Flask: `pip install flask`, and receiver.py beside this file.

    WEBHOOK_SECRET=… flask --app flask_receiver run --port 4000
"""

import os

from flask import Flask, request

from receiver import verify

SECRET = os.environ.get("WEBHOOK_SECRET")
if not SECRET:
    raise SystemExit("Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.")

app = Flask(__name__)
# Flask responds with 413 to larger bodies.
app.config["MAX_CONTENT_LENGTH"] = 1_048_576


@app.post("/webhooks")
def receive():
    # Not `request.get_json()` or `request.form`, after which the bytes may be gone.
    body = request.get_data()
    if not verify(body, request.headers, SECRET):
        return "", 401
    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    app.logger.warning("%s %s", request.headers["webhook-id"], request.get_json()["event"])
    return "", 200
