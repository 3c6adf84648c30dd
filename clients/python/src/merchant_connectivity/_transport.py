"""Sends requests: credentials, time limits, retries and errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from types import TracebackType
from typing import Any, TypeVar, Union

import httpx

from ._exchange import Attempt, Exchange
from ._pages import AsyncPages, Page, Pages, page_of
from ._requests import (
    STREAM_TYPE,
    Call,
    Operation,
    RequestOptions,
    basic_authorization,
    bearer_authorization,
    settings_of,
)
from .errors import ApiConnectionError, ApiError

LONGEST_WAIT = 20
"""Seconds: the maximum that a feed accepts."""
Secret = Union[str, Callable[[], str]]
"""A secret, or a function that returns the current one."""
AsyncSecret = Union[str, Callable[[], Union[str, Awaitable[str]]]]
"""A secret, or a function that returns the current one, which can be a coroutine function."""
Self = TypeVar("Self", bound="Transport")
AsyncSelf = TypeVar("AsyncSelf", bound="AsyncTransport")


class Transport:
    """How to reach the service. Pass the credentials of the operations that you use.

    Args:
        base_url: The address of the platform API, and of the other APIs unless they have addresses of their own.
        client_id: The ID of the API client, for the platform API.
        client_secret: The secret of the API client.
        api_key: An API key: in place of `client_secret`, and of `access_token`.
        access_token: An access token of the device authorization flow, for the dashboard API. It expires after 15 minutes.
        service_token: A service token, for the internal API.
        max_retries: How often a request is repeated after a response that asks for it, or without a response.
        max_retry_delay: Seconds. If the service asks for a longer wait, the request fails at once.
        timeout: Seconds without received data after which a request fails.
        user_agent: The header `User-Agent`, such as `my-shop/1.2.3`. Default: the name and version of this package.
        on_request: Called before each attempt of each request. Can add headers, such as `traceparent`.
        on_response: Called after each attempt of each request, for logs, metrics and traces.
        http_client: Sends the requests, for example with other proxies than those of the environment. You close it.

    Raises:
        ValueError: an address is missing or invalid.
    """

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str | None = None,
        client_secret: Secret | None = None,
        api_key: Secret | None = None,
        access_token: Secret | None = None,
        service_token: Secret | None = None,
        dashboard_url: str | None = None,
        careers_url: str | None = None,
        internal_url: str | None = None,
        max_retries: int = 2,
        max_retry_delay: float = 60,
        timeout: float = 30,
        user_agent: str | None = None,
        on_request: Callable[[Attempt], None] | None = None,
        on_response: Callable[[Exchange], None] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._settings = settings_of(
            base_url,
            dashboard_url=dashboard_url,
            careers_url=careers_url,
            internal_url=internal_url,
            max_retries=max_retries,
            max_retry_delay=max_retry_delay,
            timeout=timeout,
            user_agent=user_agent,
            on_request=on_request,
            on_response=on_response,
        )
        self._client_id = client_id
        self._secrets = {
            "basic": client_secret if api_key is None else api_key,
            "bearer": api_key if access_token is None else access_token,
            "service": service_token,
        }
        self._owns_client = http_client is None
        self._http = http_client or httpx.Client()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_client:
            self._http.close()

    def _send(
        self,
        operation: Operation,
        *,
        in_path: Mapping[str, str | int] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: Mapping[str, Any] | None = None,
        options: RequestOptions | None = None,
    ) -> Any:
        call = Call(operation, in_path or {}, query or {}, body, form, options or {}, self._settings)
        self._with_retries(call)
        return call.result

    def _pages(
        self, operation: Operation, *, query: Mapping[str, Any], options: RequestOptions | None
    ) -> Pages[Any]:
        def request(cursor: str | None) -> Page[Any]:
            changed = query if cursor is None else {**query, "cursor": cursor}
            return page_of(self._send(operation, query=changed, options=options))

        return Pages(request)

    def _stream(
        self, operation: Operation, *, options: RequestOptions | None
    ) -> AbstractContextManager[httpx.Response]:
        @contextmanager
        def opened() -> Iterator[httpx.Response]:
            call = Call(operation, {}, {}, None, None, options or {}, self._settings, STREAM_TYPE)
            response = self._with_retries(call)
            try:
                yield response
            finally:
                response.close()

        return opened()

    def _follow(
        self, operation: Operation, *, query: Mapping[str, Any], options: RequestOptions | None
    ) -> Iterator[Any]:
        """Reads a feed page by page, and waits for further entries at its end, unless `wait` is 0."""
        sent = {"wait": LONGEST_WAIT, **query}
        while True:
            page = self._send(operation, query=sent, options=options)
            yield page
            if sent["wait"] == 0 and not page["has_more"]:
                return
            sent["cursor"] = page["next_cursor"]

    def _with_retries(self, call: Call) -> httpx.Response:
        while True:
            try:
                return self._attempt(call)
            except (ApiError, ApiConnectionError) as error:
                delay = call.delay_after(error)
                if delay is None:
                    raise
            time.sleep(delay)
            call.retries += 1

    def _attempt(self, call: Call) -> httpx.Response:
        arguments = call.arguments(self._authorization(call.operation))
        request = self._http.build_request(**arguments)
        attempt = call.begin(request)
        try:
            # A redirect could lead the credentials and the body to another host, or turn the request into a GET.
            response = self._http.send(request, stream=call.opens_stream, auth=None, follow_redirects=False)
            if not call.is_stream(response):
                response.read()
            error = call.check(response)
        except httpx.RequestError as problem:
            failure = call.failure(problem)
            call.end(attempt, None, failure)
            raise failure from problem
        call.end(attempt, response, error)
        if error is not None:
            raise error
        return response

    def _authorization(self, operation: Operation) -> str | None:
        if operation.credentials == "none":
            return None
        secret = self._secrets[operation.credentials]
        value = secret() if callable(secret) else secret
        if operation.credentials == "basic":
            return basic_authorization(operation, self._client_id, value)
        return bearer_authorization(operation, value)


class AsyncTransport:
    """How to reach the service, as for `MerchantConnectivity`. Functions that return secrets can be coroutine functions."""

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str | None = None,
        client_secret: AsyncSecret | None = None,
        api_key: AsyncSecret | None = None,
        access_token: AsyncSecret | None = None,
        service_token: AsyncSecret | None = None,
        dashboard_url: str | None = None,
        careers_url: str | None = None,
        internal_url: str | None = None,
        max_retries: int = 2,
        max_retry_delay: float = 60,
        timeout: float = 30,
        user_agent: str | None = None,
        on_request: Callable[[Attempt], None] | None = None,
        on_response: Callable[[Exchange], None] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._settings = settings_of(
            base_url,
            dashboard_url=dashboard_url,
            careers_url=careers_url,
            internal_url=internal_url,
            max_retries=max_retries,
            max_retry_delay=max_retry_delay,
            timeout=timeout,
            user_agent=user_agent,
            on_request=on_request,
            on_response=on_response,
        )
        self._client_id = client_id
        self._secrets = {
            "basic": client_secret if api_key is None else api_key,
            "bearer": api_key if access_token is None else access_token,
            "service": service_token,
        }
        self._owns_client = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def __aenter__(self: AsyncSelf) -> AsyncSelf:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        if self._owns_client:
            await self._http.aclose()

    async def _send(
        self,
        operation: Operation,
        *,
        in_path: Mapping[str, str | int] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: Mapping[str, Any] | None = None,
        options: RequestOptions | None = None,
    ) -> Any:
        call = Call(operation, in_path or {}, query or {}, body, form, options or {}, self._settings)
        await self._with_retries(call)
        return call.result

    def _pages(
        self, operation: Operation, *, query: Mapping[str, Any], options: RequestOptions | None
    ) -> AsyncPages[Any]:
        async def request(cursor: str | None) -> Page[Any]:
            changed = query if cursor is None else {**query, "cursor": cursor}
            return page_of(await self._send(operation, query=changed, options=options))

        return AsyncPages(request)

    def _stream(
        self, operation: Operation, *, options: RequestOptions | None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        @asynccontextmanager
        async def opened() -> AsyncIterator[httpx.Response]:
            call = Call(operation, {}, {}, None, None, options or {}, self._settings, STREAM_TYPE)
            response = await self._with_retries(call)
            try:
                yield response
            finally:
                await response.aclose()

        return opened()

    async def _follow(
        self, operation: Operation, *, query: Mapping[str, Any], options: RequestOptions | None
    ) -> AsyncIterator[Any]:
        """Reads a feed page by page, and waits for further entries at its end, unless `wait` is 0."""
        sent = {"wait": LONGEST_WAIT, **query}
        while True:
            page = await self._send(operation, query=sent, options=options)
            yield page
            if sent["wait"] == 0 and not page["has_more"]:
                return
            sent["cursor"] = page["next_cursor"]

    async def _with_retries(self, call: Call) -> httpx.Response:
        while True:
            try:
                return await self._attempt(call)
            except (ApiError, ApiConnectionError) as error:
                delay = call.delay_after(error)
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            call.retries += 1

    async def _attempt(self, call: Call) -> httpx.Response:
        arguments = call.arguments(await self._authorization(call.operation))
        request = self._http.build_request(**arguments)
        attempt = call.begin(request)
        try:
            # A redirect could lead the credentials and the body to another host, or turn the request into a GET.
            response = await self._http.send(request, stream=call.opens_stream, auth=None, follow_redirects=False)
            if not call.is_stream(response):
                await response.aread()
            error = call.check(response)
        except httpx.RequestError as problem:
            failure = call.failure(problem)
            call.end(attempt, None, failure)
            raise failure from problem
        call.end(attempt, response, error)
        if error is not None:
            raise error
        return response

    async def _authorization(self, operation: Operation) -> str | None:
        if operation.credentials == "none":
            return None
        secret = self._secrets[operation.credentials]
        found = secret() if callable(secret) else secret
        value = found if found is None or isinstance(found, str) else await found
        if operation.credentials == "basic":
            return basic_authorization(operation, self._client_id, value)
        return bearer_authorization(operation, value)
