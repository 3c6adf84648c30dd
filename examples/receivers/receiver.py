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
# The service sends one signature, or a few during a rotation. Others are not compared.
MAX_SIGNATURES = 10
# Secrets of clients and keys of endpoints are longer.
MIN_KEY_BYTES = 24


def verify(body, headers, secret, now=None):
    """Returns whether the service sent this delivery to you just now.

    body: the raw bytes of the body, before any parsing
    headers: names and values, as from `request.headers` of Flask or Django
    secret: the key of the endpoint (`whsec_…` or `whpk_…`), or the client secret, unchanged
    now: seconds since the epoch
    """
    now = time.time() if now is None else now
    # This order ensures that only data from the service is parsed. `Service-Signature` is always made with the client secret.
    if not verify_standard_webhooks(body, headers, secret, now):
        return False
    return secret.startswith(("whsec_", "whpk_")) or verify_service_signature(body, headers, secret)


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
    message = f"{message_id}.{timestamp}.".encode() + body
    signatures = value_of(headers, "webhook-signature").split(" ", MAX_SIGNATURES)[:MAX_SIGNATURES]
    if secret.startswith("whpk_"):
        given = [each[4:] for each in signatures if each.startswith("v1a,")]
        return any(is_signed_by(secret, message, each) for each in given)
    # Anyone can sign with an empty key, or guess a short one.
    if len(key_of(secret)) < MIN_KEY_BYTES:
        return False
    expected = "v1," + sign(secret, message)
    return any(is_equal(expected, given) for given in signatures)


def key_of(secret):
    """Returns the bytes of the key: none if it is missing or malformed."""
    try:
        return base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else secret.encode()
    except ValueError:
        return b""


def sign(secret, message):
    return base64.b64encode(hmac.new(key_of(secret), message, hashlib.sha256).digest()).decode()


def is_signed_by(public_key, message, signature):
    """Verifies an Ed25519 signature. The standard library cannot: `pip install cryptography`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key[5:]))
        key.verify(base64.b64decode(signature), message)
        return True
    except (InvalidSignature, ValueError):
        return False


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
    names = ["deliveries.json", "endpoint-keys.json"]
    files = [json.loads((folder / name).read_text("utf-8")) for name in names]
    for delivery in [each for file in files for each in file["deliveries"]]:
        body = delivery["body"].encode()
        if verify(body, delivery["headers"], delivery["secret"], delivery["now"]) != delivery["accepted"]:
            sys.exit(f"Failed: {delivery['name']}")
        count += 1
    print(f"ok {count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
