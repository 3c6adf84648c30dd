"""Builds requests, and decides when they are repeated. Both clients use this module."""

from __future__ import annotations

import base64
import json
import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, Literal, TypedDict
from urllib.parse import quote, unquote

import httpx

from ._exchange import Attempt, Exchange, exchange_of
from ._version import VERSION
from .errors import ApiConnectionError, ApiError, error_of, foreign_response, origin_of

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
LEAST_REST = 5
"""Seconds that a request lasts, at least, beyond those that it asks the service to wait."""
FIRST_DELAY = 0.5
"""Seconds before the first retry if the service does not say how long to wait; doubled each time."""


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()
"""The default of parameters that can also be None: UNSET is not sent, and None is sent as `null`."""


class RequestOptions(TypedDict, total=False):
    """Options of one request."""

    headers: Mapping[str, str]
    """Additional headers, such as `X-Request-Id`."""
    timeout: float
    max_retries: int
    idempotency_key: str
    """The header `Idempotency-Key`, for operations that accept it (docs/retrying.md): they return the same result for
    each request with the same key and body, so that they can be repeated."""
    on_response: Callable[[Exchange], None]
    """Called after each attempt of this request: its status, request ID and rate limit."""


@dataclass(frozen=True)
class Operation:
    """A request as the API document describes it."""

    id: str
    method: str
    path: str
    """With names in braces, such as `/request-logs/{id}`."""
    surface: Literal["platform", "dashboard", "careers", "internal"]
    credentials: Literal["basic", "bearer", "service", "none"]
    repeatable: Literal["always", "with_idempotency_key", "never"] = "always"
    """Whether the request is safe to repeat although it is unknown whether the first one was processed
    (docs/retrying.md). A request that got 429, or 409 because another request with the same idempotency key was in
    progress, was not processed, and is repeated in any case."""
    accepts_key: bool = False
    """Whether the operation accepts the header `Idempotency-Key`."""


@dataclass(frozen=True)
class Settings:
    """The options of a client, other than its credentials."""

    urls: Mapping[str, str]
    max_retries: int
    max_retry_delay: float
    timeout: float
    user_agent: str | None
    on_request: Callable[[Attempt], None] | None
    on_response: Callable[[Exchange], None] | None


def settings_of(
    base_url: str,
    *,
    dashboard_url: str | None,
    careers_url: str | None,
    internal_url: str | None,
    **others: Any,
) -> Settings:
    """Checks the addresses.

    Raises:
        ValueError: one is missing or invalid.
    """
    own = {"dashboard_url": dashboard_url, "careers_url": careers_url, "internal_url": internal_url}
    given_urls = {"base_url": base_url, **{name: url for name, url in own.items() if url is not None}}
    for name, url in given_urls.items():
        if not _is_address(url):
            raise ValueError(
                f"{name} must be the address of the service, such as https://api.example.com, but is {url!r}."
            )
    urls = {
        surface: given_urls.get(f"{surface}_url", base_url).rstrip("/")
        for surface in ("platform", "dashboard", "careers", "internal")
    }
    return Settings(urls=urls, **others)


def given(fields: Mapping[str, Any], nullable: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the fields that are sent: those that are not None, and nullable ones that are not UNSET."""
    return {
        **{name: value for name, value in fields.items() if value is not None},
        **{name: value for name, value in (nullable or {}).items() if value is not UNSET},
    }


@dataclass
class Call:
    """A request that is sent, perhaps several times."""

    operation: Operation
    in_path: Mapping[str, str | int]
    query: Mapping[str, Any]
    body: Any
    form: Mapping[str, Any] | None
    options: RequestOptions
    settings: Settings
    accept: str = JSON_TYPE
    retries: int = 0
    result: Any = None
    """The parsed body of the response."""

    def __post_init__(self) -> None:
        key = self.options.get("idempotency_key")
        needs_key = self.operation.accepts_key and self.operation.repeatable == "with_idempotency_key"
        # Makes the request safe to repeat.
        self.idempotency_key = str(uuid.uuid4()) if key is None and needs_key and not _has_keys(self.body) else key

    def arguments(self, authorization: str | None) -> dict[str, Any]:
        """Returns the arguments of `build_request` of httpx."""
        operation, settings = self.operation, self.settings
        filled = re.sub(r"\{(\w+)\}", lambda name: _segment(name[1], self.in_path[name[1]]), operation.path)
        headers = httpx.Headers(
            {
                "accept": self.accept,
                "user-agent": settings.user_agent or f"merchant-connectivity-python/{VERSION}",
                **self.options.get("headers", {}),
            }
        )
        if authorization is not None:
            headers["authorization"] = authorization
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        content = None
        if self.body is not None:
            headers["content-type"] = JSON_TYPE
            content = json.dumps(self.body, default=_text_of, allow_nan=False, separators=(",", ":")).encode()
        return {
            "method": operation.method,
            "url": settings.urls[operation.surface] + filled,
            "params": _texts_of(self.query) or None,
            "headers": headers,
            "content": content,
            "data": None if self.form is None else _texts_of(self.form),
            "timeout": self.timeout,
        }

    @property
    def timeout(self) -> float:
        timeout, wait = self.options.get("timeout", self.settings.timeout), self.query.get("wait")
        # Programs without types also pass what else httpx accepts.
        return max(timeout, float(wait) + LEAST_REST) if wait and isinstance(timeout, (int, float)) else timeout

    def failure(self, error: httpx.RequestError) -> ApiConnectionError:
        """Returns the error for a request without a response."""
        timed_out = isinstance(error, httpx.TimeoutException)
        # Programs without types also pass what else httpx accepts.
        limit = f" within {self.timeout:g} s" if isinstance(self.timeout, (int, float)) else " in time"
        reason = f"no response{limit}" if timed_out else str(error).rstrip(".") or type(error).__name__
        url = httpx.URL(self.settings.urls[self.operation.surface])
        return ApiConnectionError(self.operation.id, f"The request to {origin_of(url)} failed: {reason}.")

    def begin(self, request: httpx.Request) -> Attempt:
        """Reports an attempt, which may get further headers."""
        operation = self.operation
        attempt = Attempt(operation.id, operation.method, operation.path, self.retries + 1, request.headers)
        if self.settings.on_request is not None:
            self.settings.on_request(attempt)
        return attempt

    def end(self, attempt: Attempt, response: httpx.Response | None, error: Exception | None) -> None:
        """Reports the outcome of an attempt."""
        exchange = exchange_of(attempt, response, error)
        for function in (self.settings.on_response, self.options.get("on_response")):
            if function is not None:
                function(exchange)

    def check(self, response: httpx.Response) -> ApiError | None:
        """Returns the error of an error response. Otherwise, keeps the result."""
        if not response.is_success:
            return error_of(self.operation.id, response)
        if self.is_stream(response):
            return None
        try:
            self.result = json.loads(response.content) if response.content else None
        except ValueError:
            return foreign_response(self.operation.id, response)
        return foreign_response(self.operation.id, response) if self.opens_stream else None

    @property
    def opens_stream(self) -> bool:
        return self.accept == STREAM_TYPE

    def is_stream(self, response: httpx.Response) -> bool:
        """Whether the body of the response is read as it arrives."""
        content_type = response.headers.get("content-type", "")
        return self.opens_stream and response.is_success and content_type.startswith(STREAM_TYPE)

    def delay_after(self, error: ApiError | ApiConnectionError) -> float | None:
        """Returns the seconds until the failed request is repeated; None if it must not be."""
        if self.retries >= self.options.get("max_retries", self.settings.max_retries):
            return None
        if not _was_not_processed(error) and not (self._is_repeatable and _is_temporary(error, self.retries)):
            return None
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        jitter = random.uniform(0.5, 1)
        if retry_after is None:
            delay: float = FIRST_DELAY * 2**self.retries * jitter
            return delay
        return None if retry_after > self.settings.max_retry_delay else retry_after + FIRST_DELAY * jitter

    @property
    def _is_repeatable(self) -> bool:
        if self.operation.repeatable == "with_idempotency_key":
            return self.idempotency_key is not None or _has_keys(self.body)
        return self.operation.repeatable == "always"


def _was_not_processed(error: ApiError | ApiConnectionError) -> bool:
    return isinstance(error, ApiError) and (
        error.status == 429 or (error.status == 409 and error.error_code == "ONGOING_OPERATION")
    )


def _is_temporary(error: ApiError | ApiConnectionError, retries: int) -> bool:
    if isinstance(error, ApiConnectionError):
        return True
    is_foreign = error.error_code is None
    return (
        error.status in (502, 503) or (is_foreign and error.status >= 504) or (error.status == 500 and retries == 0)
    )


def basic_authorization(operation: Operation, client_id: str | None, secret: str | None) -> str:
    user, password = _trimmed(client_id), _trimmed(secret)
    if not user or not password:
        raise ValueError(f"{operation.id} requires client_id, and api_key or client_secret.")
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def bearer_authorization(operation: Operation, token: str | None) -> str:
    value = _trimmed(token)
    if not value:
        name = "api_key or access_token" if operation.credentials == "bearer" else "service_token"
        raise ValueError(f"{operation.id} requires {name}.")
    return f"Bearer {value}"


def _trimmed(secret: str | None) -> str | None:
    # Files end with a line feed.
    return None if secret is None else secret.strip()


def _is_address(url: object) -> bool:
    try:
        parsed = httpx.URL(url) if isinstance(url, str) else None
    except httpx.InvalidURL:
        return False
    return parsed is not None and parsed.scheme in ("http", "https") and parsed.host != ""


def _segment(name: str, value: str | int) -> str:
    """Returns a value for one segment of a path.

    Raises:
        ValueError: with the value, the path would be that of another operation.
    """
    text = str(value)
    # A path that `.` and `..` change, for URL parsers, or for proxies that decode it before they do.
    decoded = re.sub(r"%(?:2e|2f|5c)", lambda escape: unquote(escape[0]), text, flags=re.IGNORECASE)
    has_dots = re.search(r"(?:^|[/\\])\.{1,2}(?:[/\\]|$)", decoded)
    if text.strip() == "" or has_dots or re.search("[\ud800-\udfff]", text):
        raise ValueError(f"{name} must not be {text!r}, which cannot be part of a path.")
    return quote(text, safe="")


def _has_keys(body: Any) -> bool:
    """Whether each event to be published has an idempotency key."""
    if not isinstance(body, dict):
        return False
    events = body.get("events")
    every = events if isinstance(events, list) else [body]
    return len(every) > 0 and all(isinstance(each, dict) and each.get("idempotency_key") for each in every)


def _texts_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the texts of a query or a form."""
    return {
        name: [_text_of(each) for each in value] if isinstance(value, (list, tuple)) else _text_of(value)
        for name, value in fields.items()
    }


def _text_of(value: Any) -> str:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(f"The time {value.isoformat()} has no time zone, such as datetime.now(timezone.utc) has.")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float, uuid.UUID)):
        return str(value)
    raise TypeError(f"A value of the type {type(value).__name__} cannot be sent.")
