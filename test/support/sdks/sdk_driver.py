"""Makes the calls of test/support/sdks/sdk-cases.ts with the Python SDK, as sdk-driver.mjs does with the TypeScript SDK.

The argument is the client: sync or async.
"""

import asyncio
import base64
import json
import math
import re
import sys
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from merchant_connectivity import (
    ApiConnectionError,
    ApiError,
    AsyncMerchantConnectivity,
    Attempt,
    Exchange,
    MerchantConnectivity,
    SignatureError,
    webhooks,
)

KINDS = [
    (ApiError, "ApiError"),
    (ApiConnectionError, "ConnectionError"),
    (SignatureError, "SignatureError"),
    (ValueError, "InvalidArgument"),
]
IS_ASYNC = sys.argv[1] == "async"


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def python_options(options: dict[str, Any]) -> dict[str, Any]:
    changed = {snake_case(name): value for name, value in options.items()}
    # The TypeScript SDK has milliseconds.
    return {**changed, **({"timeout": changed["timeout"] / 1000} if "timeout" in changed else {})}


def page_of(page: Any) -> Any:
    return {"data": page.data, "next_cursor": page.next_cursor, "limit": page.limit}


async def outcome_of(call: dict[str, Any]) -> Any:
    operation = call.get("operation")
    if operation == "names":
        cls = AsyncMerchantConnectivity if IS_ASYNC else MerchantConnectivity
        return [name for name in vars(cls) if not name.startswith("_")]
    if "verify" in call:
        given = dict(call["verify"])
        body = base64.b64decode(given.pop("body"))
        if "tolerance" in given and given["tolerance"] is None:
            given["tolerance"] = math.inf
        return webhooks.verify(body, given.pop("headers"), given.pop("secret"), **given)
    if "sign" in call:
        given = call["sign"]
        sent = datetime.fromtimestamp(given["timestamp"], timezone.utc)
        return webhooks.sign(given["body"], given["secret"], id=given["id"], timestamp=sent)
    fields = {**call.get("query", {}), **call.get("body", {})}
    # An object of one of several shapes is one parameter.
    positional = [call["body"]] if operation == "publishEvent" else []
    arguments = [*call.get("path", []), *positional]
    named = {**({} if positional else fields), "options": python_options(call.get("options", {}))}
    return await (with_async if IS_ASYNC else with_sync)(call, arguments, named)


async def with_sync(call: dict[str, Any], arguments: list[Any], named: dict[str, Any]) -> Any:
    with MerchantConnectivity(**python_options(call["client"])) as client:
        result = getattr(client, snake_case(call["operation"]))(*arguments, **named)
        if call["operation"] == "streamWebhooks":
            with result as response:
                return response.read().decode()
        if call["operation"] == "followWebhookEvents":
            return list(result)
        if "list" not in call:
            return result
        return list(result) if call["list"] == "all" else page_of(result.first())


async def with_async(call: dict[str, Any], arguments: list[Any], named: dict[str, Any]) -> Any:
    async with AsyncMerchantConnectivity(**python_options(call["client"])) as client:
        result = getattr(client, snake_case(call["operation"]))(*arguments, **named)
        if call["operation"] == "streamWebhooks":
            async with result as response:
                return (await response.aread()).decode()
        if call["operation"] == "followWebhookEvents":
            return [page async for page in result]
        if "list" not in call:
            return await result
        return [each async for each in result] if call["list"] == "all" else page_of(await result.first())


def observe(call: dict[str, Any]) -> list[dict[str, Any]]:
    exchanges: list[dict[str, Any]] = []

    def on_request(attempt: Attempt) -> None:
        attempt.headers["traceparent"] = "of the program"

    def on_response(exchange: Exchange) -> None:
        found = {**asdict(exchange), "error": exchange.error and str(exchange.error)}
        del found["seconds"]
        names = {"request_id": "requestId", "rate_limit": "rateLimit", "is_replayed": "isReplayed"}
        exchanges.append({names.get(name, name): value for name, value in found.items() if value is not None})

    call["client"] = {**call["client"], "onRequest": on_request, "onResponse": on_response}
    return exchanges


async def outcome_line(call: dict[str, Any]) -> dict[str, Any]:
    exchanges = {"exchanges": observe(call)} if call.get("isObserved") else {}
    try:
        return {"result": await outcome_of(call), **exchanges}
    except Exception as error:
        kind = next((name for cls, name in KINDS if isinstance(error, cls)), "other")
        names = ["operation", "status", "errorType", "errorCode", "requestId", "retryAfter", "help", "reason", "oldestCursor"]
        found = {name: getattr(error, snake_case(name), None) for name in names}
        present = {name: value for name, value in found.items() if value is not None}
        described = {"kind": kind, "message": str(error) if kind != "other" else repr(error), **present}
        return {"error": described, **exchanges}


for line in sys.stdin:
    print(json.dumps(asyncio.run(outcome_line(json.loads(line)))), flush=True)
