"""The arguments of the functions `on_request` and `on_response`, for logs, metrics and traces."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

import httpx


@dataclass(frozen=True)
class Attempt:
    """A request that is about to be sent."""

    operation: str
    """The operation, for example `createMcpToken`."""
    method: str
    path: str
    """The path with names in braces, such as `/request-logs/{id}`. It contains no data of a user."""
    number: int
    """1, or more for a repetition."""
    headers: httpx.Headers
    """Headers can be added, such as `traceparent`. They contain the credentials: do not log them."""
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class RateLimit:
    """How far a client is from a rate limit: the header `RateLimit`."""

    name: str
    """The limit, which several operations can share."""
    remaining: int
    reset: int
    """Seconds until the limit is full again."""


@dataclass(frozen=True)
class Exchange:
    """The outcome of a request."""

    operation: str
    method: str
    path: str
    attempt: int
    seconds: float
    status: int | None
    """None if there was no response."""
    request_id: str | None
    """The ID to quote when you report a problem."""
    rate_limit: RateLimit | None
    is_replayed: bool
    """Whether the response is that of an earlier request with the same idempotency key."""
    error: Exception | None
    """The error that the operation raises, unless the request is repeated."""


def exchange_of(attempt: Attempt, response: httpx.Response | None, error: Exception | None) -> Exchange:
    """Returns the outcome of an attempt."""
    headers = httpx.Headers() if response is None else response.headers
    return Exchange(
        operation=attempt.operation,
        method=attempt.method,
        path=attempt.path,
        attempt=attempt.number,
        seconds=time.monotonic() - attempt.started,
        status=None if response is None else response.status_code,
        request_id=headers.get("x-request-id"),
        rate_limit=_rate_limit_of(headers.get("ratelimit", "")),
        is_replayed=headers.get("idempotency-replayed") == "true",
        error=error,
    )


def _rate_limit_of(header: str) -> RateLimit | None:
    found = re.match(r'"([^"]+)";r=(\d+);t=(\d+)', header)
    return None if found is None else RateLimit(found[1], int(found[2]), int(found[3]))
