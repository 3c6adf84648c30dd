"""The errors that requests and the verification of webhooks raise."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

import httpx

if TYPE_CHECKING:
    from .schemas import ErrorCode, ErrorType, OAuthErrorCode


class MerchantConnectivityError(Exception):
    """The base class of all errors of requests and webhooks."""

    message: str

    def __str__(self) -> str:
        return self.message


class ApiError(MerchantConnectivityError):
    """An error response of the service. Branch on `error_code`."""

    def __init__(
        self,
        operation: str,
        status: int,
        message: str,
        *,
        error_type: ErrorType | None = None,
        error_code: ErrorCode | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        help: str | None = None,
        oauth_error: OAuthErrorCode | None = None,
        interval: int | None = None,
        oldest_cursor: str | None = None,
    ) -> None:
        # The arguments from which a copy is made, for another process.
        super().__init__(operation, status, message)
        self.operation = operation
        """The operation, for example `createMcpToken`."""
        self.status = status
        self.message = message
        self.error_type = error_type
        self.error_code = error_code
        """None if the response does not come from the service, but from a proxy in front of it."""
        self.request_id = request_id
        """The ID to quote when you report a problem."""
        self.retry_after = retry_after
        """Seconds to wait before you repeat the request."""
        self.help = help
        """Address of the documentation of this error."""
        self.oauth_error = oauth_error
        """The error code of OAuth, of operations of the device authorization flow."""
        self.interval = interval
        """Seconds between polls from now on."""
        self.oldest_cursor = oldest_cursor
        """The cursor to continue with, if that of the request is too old (`EVENT_CURSOR_EXPIRED`)."""


class ApiConnectionError(MerchantConnectivityError):
    """There was no response. It is unknown whether the service has processed the request.

    `__cause__` has the reason.
    """

    def __init__(self, operation: str, message: str) -> None:
        super().__init__(operation, message)
        self.message = message
        self.operation = operation
        """The operation, for example `createMcpToken`."""


class SignatureError(MerchantConnectivityError):
    """A webhook must not be processed."""

    def __init__(self, reason: SignatureErrorReason, message: str) -> None:
        super().__init__(reason, message)
        self.message = message
        self.reason = reason
        """The problem, for programs."""


SignatureErrorReason = Literal["missing_header", "timestamp", "signature", "service_signature", "body"]


def error_of(operation: str, response: httpx.Response) -> ApiError:
    """Returns the error for a response whose status is not 2xx. Its body has been read."""
    if response.has_redirect_location:
        return _redirected(operation, response)
    body = _body_of(response)
    if body.get("error_code") is None:
        return foreign_response(operation, response)
    retry_after = body.get("retry_after")
    return ApiError(
        operation,
        response.status_code,
        body.get("error_message") or f"The response has the status {response.status_code}.",
        error_type=body.get("error_type"),
        error_code=body.get("error_code"),
        request_id=response.headers.get("x-request-id"),
        retry_after=_seconds_of(response) if retry_after is None else retry_after,
        help=_help_of(response),
        oauth_error=body.get("error"),
        interval=body.get("interval"),
        oldest_cursor=body.get("oldest_cursor"),
    )


def foreign_response(operation: str, response: httpx.Response) -> ApiError:
    """Returns the error for a response that does not come from the service."""
    content_type = response.headers.get("content-type", "no content type").split(";")[0]
    server = response.headers.get("server")
    details = content_type if server is None else f"{content_type}, server: {server}"
    message = (
        f"The response of {origin_of(response.url)} with the status {response.status_code} does not come "
        f"from the service, but from a proxy or another server ({details})."
    )
    return ApiError(operation, response.status_code, message, retry_after=_seconds_of(response))


def origin_of(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _redirected(operation: str, response: httpx.Response) -> ApiError:
    """Returns the error for a redirect. The service never redirects requests of its operations."""
    target = urljoin(str(response.url), response.headers["location"])
    message = (
        f"{origin_of(response.url)} redirects the request to {target}. Nothing was sent there: set the "
        "base URL to the address of the service."
    )
    return ApiError(operation, response.status_code, message)


def _body_of(response: httpx.Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _help_of(response: httpx.Response) -> str | None:
    """Returns the address of the link `help`, which the service gives without its host."""
    link = re.search(r'<([^>]+)>; *rel="?help"?', response.headers.get("link", ""))
    return None if link is None else urljoin(str(response.url), link[1])


def _seconds_of(response: httpx.Response) -> float | None:
    header = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,300}", header):
        return int(header)
    try:
        time = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    # A time without a zone is in UTC.
    zoned = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return max(0, ceil((zoned - datetime.now(timezone.utc)).total_seconds()))
