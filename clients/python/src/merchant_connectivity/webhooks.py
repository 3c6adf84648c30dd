"""Verification of webhooks, and signatures for the tests of receivers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol, Union, cast

from .errors import SignatureError
from .schemas import WebhookEvent

__all__ = ["SignatureError", "sign", "verify"]

DEFAULT_TOLERANCE = 300
# The service sends one signature, or two during the rotation of a secret.
MAX_SIGNATURES = 10
# The secret key of an endpoint, its public key, and the private key, which only tests have.
ENDPOINT_KEYS = ("whsec_", "whpk_", "whsk_")
KEY_BYTES = 32
# The least of Standard Webhooks. The service makes keys of 32 bytes.
MIN_SECRET_BYTES = 24
Body = Union[str, bytes, bytearray, memoryview]


class Headers(Protocol):
    """Headers as frameworks give them, such as dictionaries."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


def verify(
    body: Body, headers: Headers, secret: str | None | Sequence[str | None], *, tolerance: float = DEFAULT_TOLERANCE
) -> WebhookEvent:
    """Verifies the signatures of a webhook and its timestamp, and returns its event.

    Args:
        body: The exact bytes of the request body, before any parsing.
        headers: The headers of the request.
        secret: The secret of your API client, or the key of the endpoint: its secret key (`whsec_`), or its public key
            (`whpk_`), which requires the extra `ed25519`. During a rotation, the old and the new one.
        tolerance: How many seconds the timestamp may differ from now; `math.inf` to verify a saved delivery.

    Raises:
        SignatureError: the webhook does not come from the service, was changed, or is too old.
        ValueError: there is no secret, or a key is malformed or private.
    """
    data = _bytes_of(body)
    secrets = _secrets_in(secret)
    for each in secrets:
        if each.startswith("whsk_"):
            raise ValueError("A receiver must not have the private key, whsk_…. Give the public key, whpk_….")
        if each.startswith(ENDPOINT_KEYS):
            _decoded(each)
    message_id, timestamp = _required(headers, "webhook-id"), _required(headers, "webhook-timestamp")
    signatures = _required(headers, "webhook-signature").split(" ", MAX_SIGNATURES)[:MAX_SIGNATURES]
    _check_age(timestamp, tolerance)
    message = f"{message_id}.{timestamp}.".encode() + data
    # A signature with the key of an endpoint covers the whole body. `Service-Signature` is not made with this key.
    has_endpoint_key = [_is_signed(message, signatures, each) for each in secrets if each.startswith(ENDPOINT_KEYS)]
    client_secrets = [each for each in secrets if not each.startswith(ENDPOINT_KEYS)]
    if not any(has_endpoint_key) and not any([_is_signed(message, signatures, each) for each in client_secrets]):
        raise SignatureError(
            "signature",
            "The header webhook-signature does not match: the body was changed, or the secret is not that of the client "
            "or the key of the endpoint.",
        )
    event = _event_of(data)
    if not any(has_endpoint_key):
        # During a rotation, this header has the signature of the old secret only, which the receiver may have replaced.
        is_rotation = sum(each.startswith("v1,") for each in signatures) > 1
        given = _required(headers, "service-signature")
        expected = [_hmac(each.encode(), _signed_parts(data, event)) for each in client_secrets]
        if not any([_is_equal(each, given) for each in expected]) and not is_rotation:
            raise SignatureError("service_signature", "The header Service-Signature does not match.")
    return event


def sign(
    body: Body,
    secret: str | Sequence[str],
    *,
    id: str | None = None,
    timestamp: datetime | None = None,
) -> dict[str, str]:
    """Returns the headers with which the service would send this body, for tests of your receiver.

    Args:
        body: The JSON of an event.
        secret: The secret of an API client, or the key of an endpoint: `whsec_`, or the private key `whsk_`, which requires
            the extra `ed25519`. Several make several signatures, as during a rotation.
        id: The header `webhook-id`. Default: a new one.
        timestamp: When the webhook was sent. Default: now.

    Raises:
        ValueError: there is no secret, or a key is malformed or public.
    """
    data = _bytes_of(body)
    secrets = _secrets_in(secret)
    sent_id = id or str(uuid.uuid4())
    sent_at = str(int(time.time() if timestamp is None else timestamp.timestamp()))
    message = f"{sent_id}.{sent_at}.".encode() + data
    # With the key of an endpoint alone, the receiver cannot know the secret of this signature.
    client_secret = next((each for each in secrets if not each.startswith(ENDPOINT_KEYS)), str(uuid.uuid4()))
    return {
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        "Encryption-Type": "HMAC-SHA256",
        "Service-Signature": _hmac(client_secret.encode(), _signed_parts(data, _event_of(data))),
        "webhook-id": sent_id,
        "webhook-timestamp": sent_at,
        "webhook-signature": " ".join(_signature(each, message) for each in secrets),
    }


def _secrets_in(secret: str | None | Sequence[str | None]) -> list[str]:
    given = [secret] if isinstance(secret, str) or secret is None else secret
    # Files end with a line feed.
    secrets = [each.strip() for each in given if each and each.strip()]
    if not secrets:
        raise ValueError("The secret is missing. Give the secret of your API client, or the key of the endpoint.")
    return secrets


def _bytes_of(body: Body) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    # Some programs pass the object that a framework has parsed, whose original bytes are lost.
    raise SignatureError("body", "The body is not text or bytes. Give the exact body, before any parsing.")


def _required(headers: Headers, name: str) -> str:
    for key, value in headers.items():
        if _text_of(key).lower() == name:
            text = _text_of(value if isinstance(value, (str, bytes)) or not value else value[0])
            if text:
                return text
    raise SignatureError("missing_header", f"The header {name} is missing.")


def _text_of(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value or "")


def _check_age(timestamp: str, tolerance: float) -> None:
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 15:
        raise SignatureError("timestamp", "The header webhook-timestamp is not a number of seconds.")
    age = time.time() - int(timestamp)
    if abs(age) > tolerance:
        direction = "ahead of" if age < 0 else "behind"
        raise SignatureError(
            "timestamp",
            f"The header webhook-timestamp is {round(abs(age))} s {direction} the clock of this machine; at most "
            f"{tolerance:g} s are accepted.",
        )


def _event_of(data: bytes) -> WebhookEvent:
    try:
        event = json.loads(data)
    except ValueError:
        event = None
    if not isinstance(event, dict) or "event" not in event:
        raise SignatureError("body", "The body is not the JSON of an event.")
    return cast(WebhookEvent, event)


def _signed_parts(data: bytes, event: WebhookEvent) -> bytes:
    """Returns the text that `Service-Signature` signs."""
    parts = [f"Content-Length|{len(data)}|Content-Type|application/json|Encryption-Type|HMAC-SHA256"]
    parts.append(f"event|{event['event']}")
    session_id = event.get("session_id")
    return "|".join([*parts, *([f"session_id|{session_id}"] if session_id else [])]).encode()


def _is_signed(message: bytes, signatures: Sequence[str], secret: str) -> bool:
    """Whether one of the signatures is of this key."""
    if secret.startswith("whpk_"):
        return any([_is_ed25519(message, each[4:], secret) for each in signatures if each.startswith("v1a,")])
    expected = _signature(secret, message)
    return any([_is_equal(expected, each) for each in signatures])


def _signature(secret: str, message: bytes) -> str:
    if secret.startswith("whpk_"):
        raise ValueError("A public key cannot sign. Give the private key, whsk_….")
    if secret.startswith("whsk_"):
        # The first half of the key that the libraries of Standard Webhooks use.
        private_key = _ed25519().Ed25519PrivateKey.from_private_bytes(_decoded(secret)[:KEY_BYTES])
        return f"v1a,{base64.b64encode(private_key.sign(message)).decode()}"
    key = _decoded(secret) if secret.startswith("whsec_") else secret.encode()
    return f"v1,{_hmac(key, message)}"


def _is_ed25519(message: bytes, signature: str, public_key: str) -> bool:
    key = _ed25519().Ed25519PublicKey.from_public_bytes(_decoded(public_key))
    try:
        key.verify(base64.b64decode(signature, validate=True), message)
    except (_invalid_signature(), ValueError):
        return False
    return True


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise ImportError(
            "Keys that begin with whpk_ or whsk_ require the package cryptography: "
            "install merchant-connectivity[ed25519]."
        ) from error
    return ed25519


def _invalid_signature() -> type[Exception]:
    from cryptography.exceptions import InvalidSignature

    return InvalidSignature


def _decoded(key: str) -> bytes:
    """Returns the bytes of a key.

    Raises:
        ValueError: the key is malformed. Anyone could sign with an empty key, or guess a short one.
    """
    kind, encoded = key.split("_", 1)
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True)
    except ValueError:
        decoded = b""
    is_too_short = len(decoded) < (MIN_SECRET_BYTES if kind == "whsec" else KEY_BYTES)
    if is_too_short or (kind == "whpk" and len(decoded) > KEY_BYTES):
        raise ValueError(f"The key {kind}_… is malformed. Copy it again, with everything after the prefix.")
    return decoded


def _hmac(key: bytes, message: bytes) -> str:
    return base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()


def _is_equal(expected: str, given: str) -> bool:
    """Takes the same time for every text of the right length, so that it does not reveal where the texts differ."""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))
