# Generated from openapi.json. Run `npm run openapi` after changes.
"""The types of responses, of webhooks, and of nested fields of requests."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict, Union, final

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class AccessTokenResponse(TypedDict):
    token_type: Literal["Bearer"]
    """How to send the token."""
    expires_in: int
    """Seconds until the token expires."""
    access_token: str
    """The token, a JWT (RFC 9068). Keep it secret: anyone who has it can act for the user or the API key."""
    scope: str
    """The scopes of the token, separated by spaces."""


@final
class AccountLoginRequiredWebhook(TypedDict):
    """The account is disconnected: the user must log in to the merchant again. Start a session for this."""

    event: Literal["ACCOUNT_LOGIN_REQUIRED"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: AccountLoginRequiredWebhookData
    """This event has no further fields: an empty object. Fields may be added."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class AccountMerchantResponse(TypedDict):
    """A merchant."""

    id: int
    """ID of the merchant."""
    name: str
    """Name of the merchant."""


@final
class AgentConnectedWebhook(TypedDict):
    """The user has connected an agent, which may act for the user from now on."""

    event: Literal["AGENT_CONNECTED"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: AgentConnectedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class AgentConnectedWebhookData(TypedDict):
    """Fields that depend on the event."""

    connection_id: str
    """ID of the connection, as in `GET /agent-connections`."""
    agent: ConnectedAgent
    """The agent."""


class AgentConnectionResponse(TypedDict):
    id: str
    """ID of the connection."""
    external_user_id: str
    """Your own identifier for the user."""
    agent: ConnectedAgentResponse
    """The agent."""
    scopes: list[AgentScope]
    """What the user has allowed."""
    created_at: str
    """When the user connected the agent."""
    last_used_at: str
    """When the agent last got an access token, which is valid for an hour."""
    expires_at: str
    """When the connection ends if the agent does not use it."""


@final
class AgentDisconnectedWebhook(TypedDict):
    """A connected agent may no longer act for the user: you, the dashboard, the user or the agent ended the connection, or a token was used twice."""

    event: Literal["AGENT_DISCONNECTED"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: AgentDisconnectedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class AgentDisconnectedWebhookData(TypedDict):
    """Fields that depend on the event."""

    connection_id: str
    """ID of the connection, as in `GET /agent-connections`."""
    agent: ConnectedAgent
    """The agent."""


class ApplicationReceipt(TypedDict):
    id: str
    """ID of the application. Quote it if you ask about your application."""
    received_at: str
    """When the application was received."""


class AuditActorResponse(TypedDict):
    """The dashboard user, API key, API client or operator that performed the action."""

    name: str
    """Name of the user or API key at the time. `operator` for an operator of the platform."""
    email: str
    """Email address of the user at the time. `API key` for an API key, `operator` for an operator of the platform."""


AuditChangeResponse = TypedDict(
    "AuditChangeResponse",
    {
        "field": "str",
        "from": "str | None",
        "to": "str | None",
    },
)


class AuditContextResponse(TypedDict):
    """Where the user performed the action."""

    ip: str
    """IP address of the user. Empty for an operator of the platform."""
    user_agent: str
    """First 512 characters of the `User-Agent` header of the user’s browser or program."""


class AuditEventResponse(TypedDict):
    """The action and its outcome."""

    action: AuditAction
    """The action. More actions may be added."""
    outcome: AuditOutcomeResponse
    """The outcome of the action."""


class AuditLogEntryResponse(TypedDict):
    id: str
    """ID of the entry."""
    datetime: str
    """When the action happened."""
    event: AuditEventResponse
    """The action and its outcome."""
    actor: AuditActorResponse
    """The dashboard user, API key, API client or operator that performed the action."""
    target: AuditTargetResponse
    """The target of the action."""
    context: AuditContextResponse
    """Where the user performed the action."""
    changes: list[AuditChangeResponse] | None
    """What the action changed, with `***` in place of anything that looks like a secret; null if it changed no field, or if the entry is older than this field."""


class AuditOutcomeResponse(TypedDict):
    """The outcome of the action."""

    status: AuditOutcome
    """`denied`: the user is not allowed to do this, or made too many attempts: one entry stands for all such attempts of an hour. `failure`: the attempt did not succeed, for example because of a wrong password."""


class AuditTargetResponse(TypedDict):
    """The target of the action."""

    type: str
    """The kind of target. [Audit actions](/docs/audit-actions) lists them; more may be added."""
    name: str | None
    """Name of the target at the time; its ID if the action was denied; null if it has no name."""
    environment: Environment
    """The environment of the target. Targets that belong to the whole organization, such as users and domains, count as `production`."""


class AuthenticatedData(TypedDict):
    """Fields that depend on the event."""

    card_id: str | None
    """Your own ID for the card."""


@final
class AuthenticatedWebhook(TypedDict):
    """The user has logged in to the merchant: the account is linked. `card_id` is null if the session has no card, as after a sign-in link."""

    event: Literal["AUTHENTICATED"]
    """The name of the event."""
    session_id: str
    """The session that the event belongs to."""
    task_id: int
    """The task of the session."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: AuthenticatedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class AuthenticatedWebhookData(TypedDict):
    """Fields that depend on the event."""

    card_id: str | None
    """Your own ID for the card."""
    metadata: NotRequired[WebhookMetadata]
    """Metadata of the session or of the sign-in link; absent if none was attached."""


class AuthorizationServerMetadata(TypedDict):
    """Metadata of an authorization server: [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2). The `issuer` is the `iss` of tokens, and also their `aud`. The grants are the device flow, and client credentials for API keys, and tokens of workloads that a key trusts. Introspection requires the credentials of the API client."""

    issuer: str
    """Defined in RFC 8414 and its extensions."""
    device_authorization_endpoint: str
    """Defined in RFC 8414 and its extensions."""
    token_endpoint: str
    """Defined in RFC 8414 and its extensions."""
    revocation_endpoint: str
    """Defined in RFC 8414 and its extensions."""
    introspection_endpoint: str
    """Defined in RFC 8414 and its extensions."""
    jwks_uri: str
    """Defined in RFC 8414 and its extensions."""
    grant_types_supported: list[str]
    """Defined in RFC 8414 and its extensions."""
    response_types_supported: list[str]
    """Defined in RFC 8414 and its extensions."""
    scopes_supported: list[Scope]
    """Scopes that a token can have."""
    token_endpoint_auth_methods_supported: list[str]
    """Defined in RFC 8414 and its extensions."""
    revocation_endpoint_auth_methods_supported: list[str]
    """Defined in RFC 8414 and its extensions."""
    introspection_endpoint_auth_methods_supported: list[str]
    """Defined in RFC 8414 and its extensions."""


class CardFailedData(TypedDict):
    """Fields that depend on the event."""

    card_id: str
    """Your own ID for the card."""
    reason: str
    """The reason as a sentence. The wording may change."""


@final
class CardFailedWebhook(TypedDict):
    """The card could not be saved at the merchant."""

    event: Literal["CARD_FAILED"]
    """The name of the event."""
    session_id: str
    """The session that the event belongs to."""
    task_id: int
    """The task of the session."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: CardFailedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class CardFailedWebhookData(TypedDict):
    """Fields that depend on the event."""

    card_id: str
    """Your own ID for the card."""
    reason: str
    """The reason as a sentence. The wording may change."""
    metadata: NotRequired[WebhookMetadata]
    """Metadata of the session or of the sign-in link; absent if none was attached."""


class CardUpdatedData(TypedDict):
    """Fields that depend on the event."""

    card_id: str
    """Your own ID for the card."""


@final
class CardUpdatedWebhook(TypedDict):
    """The merchant now charges the card."""

    event: Literal["CARD_UPDATED"]
    """The name of the event."""
    session_id: str
    """The session that the event belongs to."""
    task_id: int
    """The task of the session."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: CardUpdatedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class CardUpdatedWebhookData(TypedDict):
    """Fields that depend on the event."""

    card_id: str
    """Your own ID for the card."""
    metadata: NotRequired[WebhookMetadata]
    """Metadata of the session or of the sign-in link; absent if none was attached."""


class CompletedAuthorizationResponse(TypedDict):
    redirect_url: str
    """Redirect the user’s browser to this address. It works once, in the browser in which the user started."""


class ConnectedAgent(TypedDict):
    """The agent."""

    name: str
    """What the agent calls itself."""
    host: str
    """The host that the user was returned to."""


class ConnectedAgentResponse(TypedDict):
    """An agent."""

    name: str
    """What the agent calls itself."""
    host: str
    """The host that the user was returned to."""


class ConnectionCodeResponse(TypedDict):
    code: str
    """The code to show to the user."""
    expires_at: str
    """When the code expires: after 5 minutes."""


class CreatedSignInLinkResponse(TypedDict):
    id: str
    """ID of the link."""
    merchant: AccountMerchantResponse
    """The merchant."""
    status: SignInLinkStatus
    """The status of the link."""
    failure_reason: SignInFailure | None
    """Why the link failed; null unless its status is `failed`."""
    cancelled_by: SignInLinkCanceller | None
    """Who cancelled the link; null unless its status is `cancelled`."""
    proof: SignInProof
    """How the person who opens the link proves to be the user."""
    source: SignInLinkSource
    """Who created the link."""
    session_id: str | None
    """ID of the session of a completed link, which its event `AUTHENTICATED` has too; otherwise null."""
    created_at: str
    """When the link was created."""
    expires_at: str
    """When the link expires or expired."""
    url: str | None
    """Send it to the user. It opens nothing without the login of the user. Null if the link was sent to a phone."""


class CurrentTokenResponse(TypedDict):
    client_id: str
    """The client that the token was issued to."""
    environment: Environment
    """The environment that the token is valid for."""
    scopes: list[Scope]
    """The scopes of the token."""


class CurrentUserResponse(TypedDict):
    id: str
    """ID of the user or the API key."""
    name: str
    """Name of the user or the API key."""
    email: str
    """Email address of the user; `API key` for an API key."""
    organization_id: str
    """ID of the user’s organization."""
    role: Role
    """The current role of the user."""
    token: CurrentTokenResponse | None
    """The access token or API key; null if the request was authenticated by a dashboard login."""


class DetectedAccountResponse(TypedDict):
    name: str
    """The name as you sent it."""
    detected: bool
    """Whether an account of the user was detected at this merchant."""
    detected_at: str | None
    """When the account was detected; null if none was detected."""


class DetectedMerchant(TypedDict):
    """A merchant."""

    id: int
    """ID of the merchant."""
    name: str
    """Name of the merchant."""


class DeviceCodeResponse(TypedDict):
    device_code: str
    """The code that the device polls with. Keep it secret."""
    user_code: str
    """The code that the user enters at `verification_uri`."""
    verification_uri: str
    """The page where the user approves the device. It is short enough to type."""
    verification_uri_complete: NotRequired[str]
    """The same page with the user code in the URL. Only present if the deployment enables it."""
    expires_in: int
    """Seconds until both codes expire."""
    interval: int
    """Seconds to wait between two polls."""


class ErrorResponse(TypedDict):
    error_type: ErrorType
    """Category of the error."""
    error_code: ErrorCode
    """The error. Branch on this value."""
    error_message: str
    """Message for people. The wording may change."""
    retry_after: NotRequired[int]
    """Seconds to wait before you retry. Only present for rate-limit errors."""
    oldest_cursor: NotRequired[str]
    """The `cursor` to continue with. Only present if the cursor of the request is too old."""


class EventDeliveryResponse(TypedDict):
    endpoint_id: str
    """ID of the endpoint, which may have been deleted since."""
    state: DeliveryState
    """How far the delivery is."""
    attempts: int
    """Number of attempts that have ended."""
    last_attempt_at: str | None
    """When the last attempt was made; null before it ends."""
    status_code: int | None
    """Status code of the last response; 0 if there was no response."""
    reason: FailureReason | None
    """Why the last attempt failed; null if it did not."""
    next_attempt_at: str | None
    """When the next attempt is due; null if none is waiting."""


class EventResponse(TypedDict):
    event_id: str
    """ID of the event: its `webhook-id` header."""
    duplicate: bool
    """Whether the event had been published before with this key. Then `event_id` is its ID."""


class EventResult(TypedDict):
    event_id: str | None
    """ID of the event: its `webhook-id` header; null if it was not published."""
    duplicate: bool
    """Whether the event had been published before with this key. Then `event_id` is its ID."""
    error: ErrorResponse | None
    """Why the event was not published; null if it was."""


class EventResultsResponse(TypedDict):
    results: list[EventResult]
    """One result for each event, in the same order."""


class EventStatusResponse(TypedDict):
    id: str
    """ID of the event: its `webhook-id` header."""
    client_id: str
    """The API client whose endpoints receive the event."""
    environment: Environment
    """The environment of the client."""
    event: EventName
    """The name of the event."""
    session_id: str | None
    """The session; null if the event has none."""
    task_id: int | None
    """The task; null if the event has none."""
    external_user_id: str | None
    """The user; null if the event has none."""
    published_at: str
    """When the event was published."""
    deliveries: list[EventDeliveryResponse]
    """One delivery for each endpoint that the event is sent to."""


class IntrospectionResponse(TypedDict):
    active: bool
    """Whether the token is valid now and was issued to your client. If not, the response has no other fields."""
    token_type: NotRequired[TokenType]
    """The kind of token."""
    sub: NotRequired[str]
    """Whom the token acts for: the ID of a dashboard user, or of the API client for a token of an API key, or for an MCP token your own identifier for the user."""
    client_id: NotRequired[str]
    """The client that the token was issued to."""
    iat: NotRequired[int]
    """When the token was issued, in seconds since the epoch."""
    exp: NotRequired[int]
    """When the token expires, in seconds since the epoch."""
    environment: NotRequired[Environment]
    """The environment of the client."""
    scope: NotRequired[str]
    """The scopes, separated by spaces: of an access token, or of an MCP token that an agent got by logging in."""
    roles: NotRequired[list[Role]]
    """Access tokens only: the current role of the user."""
    org: NotRequired[str]
    """Access tokens only: the ID of the user’s organization."""
    iss: NotRequired[str]
    """Access tokens only: the issuer."""
    aud: NotRequired[str]
    """Access tokens only: the API that the token is for."""
    jti: NotRequired[str]
    """Access tokens only: the ID of the token."""
    phone_number: NotRequired[str]
    """MCP tokens only: the phone number of the user in E.164, if it was given."""


class JsonWebKeySet(TypedDict):
    """A JSON Web Key Set: [RFC 7517, section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5)."""

    keys: list[PublicJwk]
    """The current signing key, the next one, and previous keys whose last tokens have not expired yet."""


class LinkedAccountResponse(TypedDict):
    event_id: str
    """ID of the event: its `webhook-id` header."""
    task_id: int
    """The `task_id` of the event."""
    session_id: str
    """The `session_id` of the event."""


class LoggedDeliveryResponse(TypedDict):
    webhook_endpoint_id: str
    """ID of the webhook endpoint, like `endpoint_id` of the entry."""
    event_id: str
    """ID of the event, like `event_id` of the entry."""
    attempt: int
    """Number of the attempt, starting at 1."""
    reason: str | None
    """Why the attempt failed, like `reason` of the entry."""
    dns_ms: int | None
    """Milliseconds to resolve the host name; null if the attempt did not reach or did not need this step."""
    connect_ms: int | None
    """Milliseconds to connect; null if the attempt did not reach or did not need this step."""
    tls_ms: int | None
    """Milliseconds for the TLS handshake; null if the attempt did not reach or did not need this step."""
    first_byte_ms: int | None
    """Milliseconds from the request to the first byte of the response; null if the attempt did not reach or did not need this step."""


class McpTokenResponse(TypedDict):
    token: str
    """The token. Keep it secret: it is shown only once, and anyone who has it can act for the user."""
    expires_at: str
    """When the token expires."""


class MerchantAccountResponse(TypedDict):
    merchant: AccountMerchantResponse
    """The merchant."""
    state: MerchantAccountState
    """Whether the user must sign in again."""
    since: str
    """When the user last signed in, or when the account was disconnected."""
    session_id: str | None
    """The session in which the user last signed in; null if it is not known."""


class MerchantResponse(TypedDict):
    id: int
    """ID of the merchant."""
    name: str
    """Name of the merchant."""
    hidden: bool
    """Whether your organization hides the merchant."""


class MerchantStatusResponse(TypedDict):
    merchant_id: int
    """ID of the merchant."""
    type: SessionType
    """The type of session."""
    status: MerchantStatus
    """Whether sessions of this type work."""
    published: int
    """Number of clients for which the event has been published."""
    requested_at: str
    """When the status changed."""
    finished_at: str | None
    """When the event had been published for all clients; null while that is in progress."""


@final
class MerchantStatusUpdateWebhook(TypedDict):
    """Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`)."""

    event: Literal["MERCHANT_STATUS_UPDATE"]
    """The name of the event."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: MerchantStatusUpdateWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class MerchantStatusUpdateWebhookData(TypedDict):
    """Fields that depend on the event."""

    type: SessionType
    """The type of session."""
    status: MerchantStatus
    """Whether sessions of this type work."""


@final
class NewDetectedAccountsAvailableWebhook(TypedDict):
    """Accounts of the user were detected at these merchants. Send a request to "Search detected accounts" to check the merchants that you are interested in."""

    event: Literal["NEW_DETECTED_ACCOUNTS_AVAILABLE"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: NewDetectedAccountsAvailableWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class NewDetectedAccountsAvailableWebhookData(TypedDict):
    """Fields that depend on the event."""

    detected_accounts: list[DetectedMerchant]
    """The merchants."""


@final
class NewTransactionsAvailableWebhook(TypedDict):
    """The user has new transactions at the merchant."""

    event: Literal["NEW_TRANSACTIONS_AVAILABLE"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: NewTransactionsAvailableWebhookData
    """This event has no further fields: an empty object. Fields may be added."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class OpenedSessionResponse(TypedDict):
    session: str
    """ID of the session."""
    expires_at: str
    """When the session expires."""


class PublicJwk(TypedDict):
    """A public key: [RFC 7517, section 4](https://www.rfc-editor.org/rfc/rfc7517#section-4). EC keys have `crv`, `x` and `y`, RSA keys `n` and `e` ([RFC 7518, section 6](https://www.rfc-editor.org/rfc/rfc7518#section-6)). The header of a token has the `kid` of the key that verifies it."""

    kid: str
    """Defined in RFC 7517 and RFC 7518."""
    crv: NotRequired[str]
    """Defined in RFC 7517 and RFC 7518."""
    x: NotRequired[str]
    """Defined in RFC 7517 and RFC 7518."""
    y: NotRequired[str]
    """Defined in RFC 7517 and RFC 7518."""
    n: NotRequired[str]
    """Defined in RFC 7517 and RFC 7518."""
    e: NotRequired[str]
    """Defined in RFC 7517 and RFC 7518."""
    alg: KeyAlgorithm
    """Algorithm of the key."""
    use: Literal["sig"]
    """The key verifies signatures."""
    kty: KeyType
    """Type of the key."""


@final
class PublishAccountLoginRequiredRequest(TypedDict):
    """The account is disconnected: the user must log in to the merchant again. Start a session for this."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["ACCOUNT_LOGIN_REQUIRED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant_id: int
    """ID of the merchant."""
    data: NotRequired[dict[str, Any] | None]
    """The fields of `data` that the event requires. Unknown fields are ignored."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishAgentConnectedRequest(TypedDict):
    """The user has connected an agent, which may act for the user from now on."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["AGENT_CONNECTED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: AgentConnectedWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishAgentDisconnectedRequest(TypedDict):
    """A connected agent may no longer act for the user: you, the dashboard, the user or the agent ended the connection, or a token was used twice."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["AGENT_DISCONNECTED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: AgentDisconnectedWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishAuthenticatedRequest(TypedDict):
    """The user has logged in to the merchant: the account is linked. `card_id` is null if the session has no card, as after a sign-in link."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["AUTHENTICATED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    session_id: str
    """A session of the client and the user. The event contains its metadata."""
    task_id: int
    """The task of the session."""
    merchant_id: int
    """ID of the merchant."""
    data: AuthenticatedData
    """Fields that depend on the event."""
    metadata: NotRequired[dict[str, str] | None]
    """Replaces the metadata of the session. An empty object means none."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishCardFailedRequest(TypedDict):
    """The card could not be saved at the merchant."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["CARD_FAILED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    session_id: str
    """A session of the client and the user. The event contains its metadata."""
    task_id: int
    """The task of the session."""
    merchant_id: int
    """ID of the merchant."""
    data: CardFailedData
    """Fields that depend on the event."""
    metadata: NotRequired[dict[str, str] | None]
    """Replaces the metadata of the session. An empty object means none."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishCardUpdatedRequest(TypedDict):
    """The merchant now charges the card."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["CARD_UPDATED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    session_id: str
    """A session of the client and the user. The event contains its metadata."""
    task_id: int
    """The task of the session."""
    merchant_id: int
    """ID of the merchant."""
    data: CardUpdatedData
    """Fields that depend on the event."""
    metadata: NotRequired[dict[str, str] | None]
    """Replaces the metadata of the session. An empty object means none."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishMerchantStatusUpdateRequest(TypedDict):
    """Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`)."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["MERCHANT_STATUS_UPDATE"]
    """The event."""
    merchant_id: int
    """ID of the merchant."""
    data: MerchantStatusUpdateWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishNewDetectedAccountsAvailableRequest(TypedDict):
    """Accounts of the user were detected at these merchants. Send a request to "Search detected accounts" to check the merchants that you are interested in."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["NEW_DETECTED_ACCOUNTS_AVAILABLE"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    data: NewDetectedAccountsAvailableWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishNewTransactionsAvailableRequest(TypedDict):
    """The user has new transactions at the merchant."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["NEW_TRANSACTIONS_AVAILABLE"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant_id: int
    """ID of the merchant."""
    data: NotRequired[dict[str, Any] | None]
    """The fields of `data` that the event requires. Unknown fields are ignored."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishSignInLinkExpiredRequest(TypedDict):
    """The user did not use a sign-in link in time. The account does not change."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["SIGN_IN_LINK_EXPIRED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant_id: int
    """ID of the merchant."""
    data: SignInLinkExpiredWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


@final
class PublishSignInLinkFailedRequest(TypedDict):
    """The user cannot sign in with a sign-in link. The account does not change. Sign-ins that succeed send `AUTHENTICATED`. Links that are cancelled, or that the user declines, send no event."""

    client_id: str
    """The API client whose endpoints receive the event."""
    event: Literal["SIGN_IN_LINK_FAILED"]
    """The event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant_id: int
    """ID of the merchant."""
    data: SignInLinkFailedWebhookData
    """Fields that depend on the event."""
    timestamp: NotRequired[int | None]
    """When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed."""
    idempotency_key: NotRequired[str | None]
    """Makes retries safe: an event with the same key and content is published once."""


class PublishedEventResponse(TypedDict):
    event_id: str
    """ID of the event: its `webhook-id` header."""


class QueuedDeliveriesResponse(TypedDict):
    queued: int
    """Number of deliveries that are sent now; 0 if the event is being sent already."""


class RecoveryResponse(TypedDict):
    status: RecoveryStatus
    """Whether the recovery is running or finished; `none` if there has not been one."""
    since: str | None
    """Start of the period."""
    queued: int
    """Number of deliveries that the recovery has added to the queue."""
    requested_at: str | None
    """When the recovery was requested."""
    finished_at: str | None
    """When the recovery finished; null while it is running."""


class RequestLogEntryResponse(TypedDict):
    id: int
    """ID of the entry."""
    type: RequestLogType
    """The kind of entry."""
    datetime: str
    """When the response was sent or the attempt ended."""
    method: str
    """HTTP method."""
    path: str | None
    """Path of the API request; null for a delivery attempt."""
    url: str | None
    """URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API request."""
    event: str | None
    """Name of the webhook event; null for an API request."""
    status_code: int
    """Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response."""
    latency_ms: int
    """Milliseconds until the response."""
    session_id: str | None
    """The session that the entry belongs to; null if there is none."""
    task_id: int | None
    """The task that the entry belongs to; null if there is none."""
    external_user_id: str | None
    """Your identifier for the user that the entry belongs to; null if there is none."""
    tool: str | None
    """The tool that an agent called; null for other requests."""
    agent: str | None
    """Name and host of the agent that called the tool, if its user connected it; null for an agent with a token from `POST /mcp/tokens/create`, and for other requests."""
    api_key: str | None
    """Name of the API key that the request was sent with; null if it was sent with the secret, and for other entries."""
    error_code: ErrorCode | None
    """The `error_code` of the response; null if the request succeeded, for a delivery attempt, and for entries from before the service recorded errors."""
    error_message: str | None
    """The `error_message` of the response, at most 500 characters; null if the request succeeded, for a delivery attempt, for entries from before the service recorded errors, and after the data of the user was erased."""
    request_id: str | None
    """The `X-Request-Id` of the response; null for a delivery attempt, and for entries from before the service recorded it."""
    endpoint_id: str | None
    """The webhook endpoint that the event was sent to; null for an API request."""
    event_id: str | None
    """ID of the webhook event, the `webhook-id` header of its deliveries; null for an API request."""
    reason: str | None
    """Why the delivery attempt failed; null if it succeeded, and for an API request. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response: `TIMEOUT`, `DNS`, `TLS`, `REFUSED`, `RESET`, `NOT_HTTP`, `HEADERS_TOO_LARGE`, `FORBIDDEN_ADDRESS`."""


class SessionResponse(TypedDict):
    session: str
    """ID of the session."""


@final
class SignInLinkExpiredWebhook(TypedDict):
    """The user did not use a sign-in link in time. The account does not change."""

    event: Literal["SIGN_IN_LINK_EXPIRED"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: SignInLinkExpiredWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class SignInLinkExpiredWebhookData(TypedDict):
    """Fields that depend on the event."""

    sign_in_link_id: str
    """ID of the sign-in link."""
    metadata: NotRequired[WebhookMetadata]
    """Metadata of the session or of the sign-in link; absent if none was attached."""


@final
class SignInLinkFailedWebhook(TypedDict):
    """The user cannot sign in with a sign-in link. The account does not change. Sign-ins that succeed send `AUTHENTICATED`. Links that are cancelled, or that the user declines, send no event."""

    event: Literal["SIGN_IN_LINK_FAILED"]
    """The name of the event."""
    external_user_id: str
    """Your own identifier for the user."""
    merchant: WebhookMerchant
    """The merchant that the event is about."""
    data: SignInLinkFailedWebhookData
    """Fields that depend on the event."""
    timestamp: int
    """When the event happened, in milliseconds since the Unix epoch."""


class SignInLinkFailedWebhookData(TypedDict):
    """Fields that depend on the event."""

    sign_in_link_id: str
    """ID of the sign-in link."""
    reason: SignInFailure
    """Why the link failed."""
    metadata: NotRequired[WebhookMetadata]
    """Metadata of the session or of the sign-in link; absent if none was attached."""


class SignInLinkResponse(TypedDict):
    id: str
    """ID of the link."""
    merchant: AccountMerchantResponse
    """The merchant."""
    status: SignInLinkStatus
    """The status of the link."""
    failure_reason: SignInFailure | None
    """Why the link failed; null unless its status is `failed`."""
    cancelled_by: SignInLinkCanceller | None
    """Who cancelled the link; null unless its status is `cancelled`."""
    proof: SignInProof
    """How the person who opens the link proves to be the user."""
    source: SignInLinkSource
    """Who created the link."""
    session_id: str | None
    """ID of the session of a completed link, which its event `AUTHENTICATED` has too; otherwise null."""
    created_at: str
    """When the link was created."""
    expires_at: str
    """When the link expires or expired."""


class SingleRequestLogEntryResponse(TypedDict):
    id: int
    """ID of the entry."""
    type: RequestLogType
    """The kind of entry."""
    datetime: str
    """When the response was sent or the attempt ended."""
    method: str
    """HTTP method."""
    path: str | None
    """Path of the API request; null for a delivery attempt."""
    url: str | None
    """URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API request."""
    event: str | None
    """Name of the webhook event; null for an API request."""
    status_code: int
    """Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response."""
    latency_ms: int
    """Milliseconds until the response."""
    session_id: str | None
    """The session that the entry belongs to; null if there is none."""
    task_id: int | None
    """The task that the entry belongs to; null if there is none."""
    external_user_id: str | None
    """Your identifier for the user that the entry belongs to; null if there is none."""
    tool: str | None
    """The tool that an agent called; null for other requests."""
    agent: str | None
    """Name and host of the agent that called the tool, if its user connected it; null for an agent with a token from `POST /mcp/tokens/create`, and for other requests."""
    api_key: str | None
    """Name of the API key that the request was sent with; null if it was sent with the secret, and for other entries."""
    error_code: ErrorCode | None
    """The `error_code` of the response; null if the request succeeded, for a delivery attempt, and for entries from before the service recorded errors."""
    error_message: str | None
    """The `error_message` of the response, at most 500 characters; null if the request succeeded, for a delivery attempt, for entries from before the service recorded errors, and after the data of the user was erased."""
    request_id: str | None
    """The `X-Request-Id` of the response; null for a delivery attempt, and for entries from before the service recorded it."""
    endpoint_id: str | None
    """The webhook endpoint that the event was sent to; null for an API request."""
    event_id: str | None
    """ID of the webhook event, the `webhook-id` header of its deliveries; null for an API request."""
    reason: str | None
    """Why the delivery attempt failed; null if it succeeded, and for an API request. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response: `TIMEOUT`, `DNS`, `TLS`, `REFUSED`, `RESET`, `NOT_HTTP`, `HEADERS_TOO_LARGE`, `FORBIDDEN_ADDRESS`."""
    delivery: LoggedDeliveryResponse | None
    """Details of a delivery attempt; null for an API request."""
    secret_version: int | None
    """Version of the secret that the request was sent with; null if it was sent with an API key or a token, if the credentials were refused, and for a delivery attempt."""
    ip_address: str | None
    """IP address that sent the request; null for a delivery attempt, for entries from before the service recorded it, and after the data of the user was erased."""
    user_agent: str | None
    """The `User-Agent` of the request, at most 512 characters; null if it had none, and otherwise like `ip_address`."""
    response_body: str | None
    """The beginning of your endpoint’s response, if its status was not 200 and the body was text: at most 2 KiB, with `[REDACTED]` in place of anything that looks like a secret. Null otherwise, and for an API request."""


class TestedWebhookEndpointResponse(TypedDict):
    event_id: str
    """ID of the event: its `webhook-id` header."""
    received: bool
    """Whether the event counts as received: the endpoint responded with 200 in time."""
    status_code: int
    """Status code of the endpoint’s response; 0 if there was no response."""
    reason: FailureReason | None
    """Why the event does not count as received; null if it does."""
    message: str
    """The result in words. The wording may change."""
    latency_ms: int
    """Duration of the attempt in milliseconds."""


class TriggeredWebhookResponse(TypedDict):
    event_id: str
    """ID of the event: its `webhook-id` header."""
    task_id: int | None
    """The `task_id` of the event; null if the event has none."""


class UserErasureResponse(TypedDict):
    status: UserErasureStatus
    """Whether everything is erased."""
    erased: int
    """Number of records that were erased, or that no longer name the user."""
    requested_at: str
    """When the erasure was last requested."""
    finished_at: str | None
    """When the erasure was finished; null while it is running."""


class WebhookEndpointHealth(TypedDict):
    """How deliveries to a webhook endpoint went recently."""

    last_success_at: str | None
    """When the endpoint last responded with 200; null if it never did."""
    consecutive_failures: int
    """Number of attempts that failed since the last success."""
    throttled: bool
    """Whether the endpoint gets one attempt per second, because 5 attempts in a row failed. The next success ends that."""
    disabled_reason: WebhookEndpointDisabledReason | None
    """Why the service disabled the endpoint; null unless `status` is `disabled`."""


class WebhookEndpointListResponse(TypedDict):
    data: list[WebhookEndpointResponse]
    """The endpoints, in the order in which they were created."""


class WebhookEndpointResponse(TypedDict):
    id: str
    """ID of the endpoint."""
    url: str
    """The URL that webhooks are sent to, in the normal form of the URL Standard."""
    description: str | None
    """What you use the endpoint for; null if you did not describe it."""
    environment: Environment
    """The environment whose events are sent."""
    created_at: str
    """When the endpoint was created."""
    events: list[EventName] | None
    """Names of the events that are sent to the endpoint; null for all events, including those that are added later."""
    status: WebhookEndpointStatus
    """`enabled`: events are sent to the endpoint. `paused`: they wait until it is enabled, at most as long as the request log is kept. `disabled`: the service has disabled the endpoint because it kept failing. It gets no events until you enable it, and you can resend those that it missed."""
    health: WebhookEndpointHealth
    """How deliveries to the endpoint went recently."""
    signing: WebhookEndpointSigning
    """What makes the header `webhook-signature`. More may be added."""
    public_key: str | None
    """The key that verifies `webhook-signature`, if `signing` is `ed25519`; null otherwise. It is not secret."""
    previous_key_expires_at: str | None
    """During a rotation, the time until which the previous key also signs; null if only the newest signs."""
    header_names: list[str]
    """Names of your own headers. Their values are not returned."""
    signing_key: NotRequired[str]
    """The secret of the new key. Only in the response that makes a key of the kind `hmac`: store it in your receiver."""


class WebhookEventListResponse(TypedDict):
    data: list[WebhookEventResponse]
    """The events, in the order in which they were published."""
    next_cursor: str
    """Send this value as `cursor` to continue. It is also present at the end."""
    has_more: bool
    """Whether there may be more events now. If not, read again later, or send `wait`."""
    delayed: bool
    """Whether events wait for an earlier publication that has not ended: read again soon. Then they come in the right order."""


class WebhookEventResponse(TypedDict):
    id: str
    """ID of the event: its `webhook-id` header."""
    event: EventName
    """The name of the event."""
    created_at: str
    """When the event was published, by the clock of the process that published it. It can be up to a minute earlier than that of an event before it."""
    body: NotRequired[str]
    """The body of the webhook, exactly as endpoints receive it. Missing if the user was erased."""
    erased: NotRequired[bool]
    """Present and true if the user of the event was erased, and the body with the user."""


class WebhookMerchant(TypedDict):
    """The merchant that the event is about."""

    id: int
    """The merchant’s id, which never changes."""
    name: str
    """The merchant’s name."""


Environment = Literal["development", "production"]
"""The environment. The data of the two environments are separate."""

RequestLogType = Literal["request", "webhook"]
"""`request`: an API request. `webhook`: a delivery attempt."""

ErrorCode = Literal[
    "INVALID_API_KEYS", "INVALID_FIELD", "INVALID_JWE", "INVALID_CURSOR_FORMAT", "USER_NOT_FOUND",
    "MERCHANT_ACCOUNT_NOT_FOUND", "MERCHANT_ACCOUNT_DISCONNECTED", "SESSION_NOT_FOUND",
    "EXTEND_NOT_SUPPORTED", "MERCHANT_UNAVAILABLE", "NO_ACCESS", "TRANSACTION_NOT_FOUND",
    "NO_TRANSACTIONS", "SUBSCRIPTION_NOT_FOUND", "CANCELLABLE_SUBSCRIPTION_NOT_FOUND",
    "MULTIPLE_CANCELLABLE_SUBSCRIPTIONS_FOUND", "ONGOING_OPERATION", "CART_NOT_FOUND",
    "FULFILLMENT_NOT_FOUND", "INVALID_ACCESS_TOKEN", "INSUFFICIENT_SCOPE", "INSUFFICIENT_ROLE",
    "WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_LIMIT_REACHED",
    "WEBHOOK_ENDPOINT_ALREADY_EXISTS", "RATE_LIMIT_EXCEEDED", "ENVIRONMENT_MISMATCH",
    "REQUEST_LOG_NOT_FOUND", "REQUEST_LOG_QUERY_TIMEOUT", "WEBHOOK_ENDPOINT_DISABLED",
    "IDEMPOTENCY_KEY_REUSED", "TOO_MANY_REQUESTS", "NOT_FOUND", "METHOD_NOT_ALLOWED",
    "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE",
    "WEBHOOK_ENDPOINT_KEY_ROTATING", "EVENT_CURSOR_EXPIRED",
]
"""The kind of error. More kinds may be added."""

RequestLogOutcome = Literal["success", "failure"]
"""How an API request or a delivery attempt ended."""

AuditAction = Literal[
    "access_grant.create", "access_grant.revoke", "account.activate", "account.create",
    "account.logo_update", "account.update", "agent.approve", "agent.decline", "agent.disconnect",
    "agent.refuse", "agent.register", "agent.remove", "agent.reuse", "agent.settings_update",
    "audit_log.export", "audit_stream.remove", "audit_stream.skip", "audit_stream.update",
    "auth.device_approve", "auth.device_deny", "auth.device_revoke", "auth.login", "auth.logout",
    "auth.passkey_add", "auth.passkey_remove", "auth.passkey_rename", "auth.password_change",
    "auth.password_reset", "auth.provider_link", "auth.provider_unlink",
    "auth.recovery_codes_renew", "auth.session_end", "auth.two_factor_disable",
    "auth.two_factor_enable", "client.create", "client.update", "detected_account.import",
    "domain.add", "domain.lose_proof", "domain.prove", "domain.remove", "external_user.erase",
    "key.create", "key.end", "key.rotate", "key.update", "merchant.activate", "merchant.export",
    "merchant.hide", "merchant_account.unlink", "request_log.export", "secret.rotate",
    "secret.view", "service_token.create", "service_token.revoke", "service_token.rotate",
    "sign_in_link.cancel", "sign_in_link.create", "sign_in_link.refuse", "sso.add", "sso.disable",
    "sso.enable", "sso.settings_update", "sso.update", "user.add", "user.invite", "user.remove",
    "user.unlock", "user.update", "user_login.complete", "user_login.refuse", "webhook.create",
    "webhook.delete", "webhook.resend", "webhook.rotate_key", "webhook.update", "webhook.view_key",
]
"""An action that the audit log records. More actions may be added."""

AuditOutcome = Literal["success", "failure", "denied"]
"""How an action ended."""

SearchDetectedAccountsResponse = list[DetectedAccountResponse]

IdentifyDetectedAccountsResponse = list[DetectedAccountResponse]

EventName = Literal[
    "ACCOUNT_LOGIN_REQUIRED", "AGENT_CONNECTED", "AGENT_DISCONNECTED", "AUTHENTICATED",
    "CARD_FAILED", "CARD_UPDATED", "MERCHANT_STATUS_UPDATE", "NEW_DETECTED_ACCOUNTS_AVAILABLE",
    "NEW_TRANSACTIONS_AVAILABLE", "SIGN_IN_LINK_EXPIRED", "SIGN_IN_LINK_FAILED",
]
"""The name of an event. More events may be added."""

SettableWebhookEndpointStatus = Literal["enabled", "paused"]
"""The statuses that you can give a webhook endpoint."""

WebhookEndpointSigning = Literal["client", "hmac", "ed25519"]
"""What makes the header `webhook-signature` of the deliveries to a webhook endpoint. `client`: the secret of the API client. `hmac`: a secret that only this endpoint has. `ed25519`: a private key that never leaves the service."""

WebhookEndpointStatus = Literal["enabled", "paused", "disabled"]
"""Whether events are sent to a webhook endpoint. More may be added."""

WebhookEndpointDisabledReason = Literal["failing"]
"""Why the service has disabled a webhook endpoint. `failing`: all attempts failed for days. More may be added."""

JobRole = Literal[
    "product_engineer", "ios_engineer", "android_engineer", "infrastructure_engineer",
    "senior_product_manager",
]
"""A job that you can apply for."""

AgentScope = Literal["accounts:read", "sign_in_links:write"]
"""What an agent may do for a user."""

MerchantName = str
"""Name of a merchant, in any common spelling."""

MerchantId = int
"""ID of a merchant."""

MerchantNameOrId = Union[MerchantName, MerchantId]
"""A merchant, by name in any common spelling or by ID."""

SessionType = Literal["card_switcher", "transaction_link", "link", "vault"]
"""The purpose of a session."""

MerchantStatus = Literal["UP", "DOWN"]
"""Whether sessions of a type work at a merchant."""

WebhookMetadata = dict[str, str]
"""Metadata of the session or of the sign-in link; absent if none was attached."""

SignInFailure = Literal["not_sent", "denied", "too_many_attempts"]
"""`not_sent`: the text message could not be sent. `denied`: the merchant does not let the user sign in, for example because the account is locked. `too_many_attempts`: the merchant rejected the credentials or codes too many times."""

PublishEventRequest = Union[
    PublishAccountLoginRequiredRequest, PublishAgentConnectedRequest,
    PublishAgentDisconnectedRequest, PublishAuthenticatedRequest, PublishCardFailedRequest,
    PublishCardUpdatedRequest, PublishMerchantStatusUpdateRequest,
    PublishNewDetectedAccountsAvailableRequest, PublishNewTransactionsAvailableRequest,
    PublishSignInLinkExpiredRequest, PublishSignInLinkFailedRequest,
]
"""The body. `event` names its type."""

ErrorType = Literal[
    "INVALID_INPUT", "INVALID_REQUEST", "USER_ERROR", "SESSION_ERROR", "MERCHANT_ACCOUNT_ERROR",
    "MERCHANT_ERROR", "SUBSCRIPTION_ERROR", "TRANSACTION_ERROR", "CART_ERROR",
    "WEBHOOK_ENDPOINT_ERROR", "REQUEST_LOG_ERROR", "RATE_LIMIT_ERROR", "API_ERROR",
]
"""Category of an error. More categories may be added."""

UserErasureStatus = Literal["running", "finished"]
"""Whether the erasure is still running."""

MerchantAccountState = Literal["connected", "disconnected"]
"""`connected`: the user has signed in. `disconnected`: the merchant requires the user to sign in again."""

ListMerchantStatusesResponse = list[MerchantStatusResponse]

ListMerchantsResponse = list[MerchantResponse]

RevocationResponse = dict[str, Any]

TokenType = Literal["Bearer", "mcp"]
"""`Bearer`: an access token of the dashboard API. `mcp`: an MCP token."""

Role = Literal["owner", "admin", "member", "viewer"]
"""The role of a dashboard user. The first has the most rights."""

Scope = Literal[
    "accounts:read", "accounts:write", "agents:read", "agents:write", "audit_logs:read",
    "detected_accounts:read", "mcp_tokens:write", "merchants:read", "request_logs:read",
    "sandbox:write", "sessions:write", "sign_in_links:read", "sign_in_links:write",
    "tokens:introspect", "users:erase", "users:identify", "webhook_endpoints:read",
    "webhook_endpoints:write", "webhook_events:read",
]
"""What an access token or an API key may be used for."""

KeyAlgorithm = Literal["ES256", "RS256"]
"""Algorithm of a key that verifies access tokens."""

KeyType = Literal["EC", "RSA"]
"""Type of a key that verifies access tokens."""

SignInLinkStatus = Literal["pending", "completed", "failed", "expired", "cancelled"]
"""The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`."""

SignInLinkCanceller = Literal["user", "agent", "backend", "dashboard", "other_link", "revocation"]
"""Who cancelled a sign-in link. `other_link`: the user signed in with another link. `revocation`: the agent may no longer act for the user."""

SignInProof = Literal["partner_login", "phone"]
"""How the user proves who they are. `partner_login`: they log in on your login page. `phone`: the link was sent to their phone."""

SignInLinkSource = Literal["agent", "backend", "dashboard"]
"""Who created a sign-in link: an agent, your backend, or a user of the dashboard."""

FailureReason = Literal[
    "TIMEOUT", "DNS", "TLS", "REFUSED", "RESET", "NOT_HTTP", "HEADERS_TOO_LARGE",
    "FORBIDDEN_ADDRESS", "NON_200", "INTERRUPTED", "KEY_UNAVAILABLE",
]
"""Why a delivery attempt failed. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response. More may be added."""

RecoveryStatus = Literal["none", "running", "finished"]
"""How far a recovery is."""

DeliveryState = Literal["waiting", "in_progress", "succeeded", "failed"]
"""`waiting`: for the first attempt or a retry. `in_progress`: an attempt has begun. `succeeded`: the endpoint responded with 200. `failed`: there are no further attempts."""

OAuthErrorCode = Literal[
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "invalid_scope",
    "unsupported_grant_type", "unsupported_response_type", "invalid_target", "invalid_redirect_uri",
    "invalid_client_metadata", "authorization_pending", "slow_down", "access_denied",
    "expired_token", "server_error", "temporarily_unavailable",
]
"""An error code of OAuth 2.0."""

AccountLoginRequiredWebhookData = dict[str, Any]
"""This event has no further fields: an empty object. Fields may be added."""

NewTransactionsAvailableWebhookData = dict[str, Any]
"""This event has no further fields: an empty object. Fields may be added."""

WebhookEvent = Union[
    AccountLoginRequiredWebhook, AgentConnectedWebhook, AgentDisconnectedWebhook,
    AuthenticatedWebhook, CardFailedWebhook, CardUpdatedWebhook, MerchantStatusUpdateWebhook,
    NewDetectedAccountsAvailableWebhook, NewTransactionsAvailableWebhook, SignInLinkExpiredWebhook,
    SignInLinkFailedWebhook,
]
"""The body of a webhook. The field `event` tells the events apart."""
