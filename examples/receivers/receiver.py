"""Verifies webhooks. Copy `verify` and the functions that it calls. The rest of this file
runs the test vectors in this folder.

    python3 receiver.py        (Python 3.9 or later)
"""

import base64
import hashlib
import hmac
import json
import re
import sys
import time
from pathlib import Path

# Maximum age of a delivery in seconds, which also covers clock differences.
TOLERANCE = 300
# The service sends one signature, or two during the rotation of a secret. Others are not compared.
MAX_SIGNATURES = 10


def verify(body, headers, secret, now=None):
    """Returns whether the service sent this delivery to you just now.

    body: the raw bytes of the body, before any parsing
    headers: names and values, as from `request.headers` of Flask or Django
    secret: the client secret, unchanged
    now: seconds since the epoch
    """
    now = time.time() if now is None else now
    # This order ensures that only data from the service is parsed.
    return verify_standard_webhooks(body, headers, secret, now) and verify_service_signature(body, headers, secret)


def verify_service_signature(body, headers, secret):
    """Verifies `Service-Signature`, which covers only the event, the session and the length of the body."""
    try:
        payload = json.loads(body)
    except ValueError:
        return False
    if not isinstance(payload, dict) or not isinstance(payload.get("event"), str):
        return False
    signed = (
        f"Content-Length|{len(body)}|Content-Type|application/json|Encryption-Type|HMAC-SHA256"
        f"|event|{payload['event']}"
    )
    if "session_id" in payload:
        if not isinstance(payload["session_id"], str):
            return False
        signed += f"|session_id|{payload['session_id']}"
    return is_equal(sign(secret, signed.encode()), value_of(headers, "service-signature"))


def verify_standard_webhooks(body, headers, secret, now):
    """Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body."""
    message_id = value_of(headers, "webhook-id")
    timestamp = value_of(headers, "webhook-timestamp")
    if not message_id or not re.fullmatch(r"[0-9]{1,15}", timestamp) or abs(now - int(timestamp)) > TOLERANCE:
        return False
    expected = "v1," + sign(secret, f"{message_id}.{timestamp}.".encode() + body)
    signatures = value_of(headers, "webhook-signature").split(" ", MAX_SIGNATURES)[:MAX_SIGNATURES]
    return any(is_equal(expected, given) for given in signatures)


def sign(secret, message):
    return base64.b64encode(hmac.new(secret.encode(), message, hashlib.sha256).digest()).decode()


def is_equal(expected, given):
    """Compares in constant time, so that the duration does not reveal where the texts differ."""
    return len(given) == len(expected) and hmac.compare_digest(expected.encode(), given.encode())


def value_of(headers, name):
    return next((value for key, value in headers.items() if key.lower() == name), "")


def main(folder):
    count = 0
    for vector in json.loads((folder / "service-signature.json").read_text("utf-8"))["vectors"]:
        headers = {"Service-Signature": vector["signature"]}
        if not verify_service_signature(vector["body"].encode(), headers, vector["secret"]):
            sys.exit(f"Failed: {vector['name']}")
        count += 1
    for delivery in json.loads((folder / "deliveries.json").read_text("utf-8"))["deliveries"]:
        body = delivery["body"].encode()
        if verify(body, delivery["headers"], delivery["secret"], delivery["now"]) != delivery["accepted"]:
            sys.exit(f"Failed: {delivery['name']}")
        count += 1
    print(f"ok {count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
