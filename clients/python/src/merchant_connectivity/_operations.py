# Generated from openapi.json. Run `npm run openapi` after changes.
"""The requests of the methods, as the API document describes them."""

from ._requests import Operation

CREATE_MCP_TOKEN = Operation(
    "createMcpToken", "POST", "/mcp/tokens/create", "platform", "basic", accepts_key=True,
)
REQUEST_DEVICE_CODE = Operation(
    "requestDeviceCode", "POST", "/oauth/device/code", "dashboard", "none",
)
EXCHANGE_DEVICE_CODE = Operation("exchangeDeviceCode", "POST", "/oauth/token", "dashboard", "none")
LIST_REQUEST_LOGS = Operation("listRequestLogs", "GET", "/request-logs", "dashboard", "bearer")
LIST_AUDIT_LOGS = Operation("listAuditLogs", "GET", "/audit_logs", "platform", "basic")
SEARCH_DETECTED_ACCOUNTS = Operation(
    "searchDetectedAccounts", "POST", "/detected-accounts/search", "platform", "basic",
)
IDENTIFY_DETECTED_ACCOUNTS = Operation(
    "identifyDetectedAccounts", "POST", "/detected_accounts/identify", "platform", "basic",
)
CREATE_WEBHOOK_ENDPOINT = Operation(
    "createWebhookEndpoint", "POST", "/webhook-endpoints/create", "dashboard", "bearer",
    repeatable="with_idempotency_key", accepts_key=True,
)
SUBMIT_JOB_APPLICATION = Operation(
    "submitJobApplication", "POST", "/apply", "careers", "none", repeatable="never",
)
COMPLETE_AGENT_AUTHORIZATION = Operation(
    "completeAgentAuthorization", "POST", "/mcp/authorizations/{authorization_id}/complete",
    "platform", "basic", accepts_key=True,
)
CREATE_CONNECTION_CODE = Operation(
    "createConnectionCode", "POST", "/mcp/connection-codes", "platform", "basic", accepts_key=True,
)
LIST_AGENT_CONNECTIONS = Operation(
    "listAgentConnections", "GET", "/agent-connections", "platform", "basic",
)
DISCONNECT_AGENT = Operation(
    "disconnectAgent", "DELETE", "/agent-connections/{id}", "platform", "basic",
)
CREATE_DETECTION = Operation(
    "createDetection", "POST", "/detections", "internal", "service",
    repeatable="with_idempotency_key", accepts_key=True,
)
PUBLISH_EVENT = Operation(
    "publishEvent", "POST", "/events", "internal", "service", repeatable="with_idempotency_key",
    accepts_key=True,
)
PUBLISH_EVENTS = Operation(
    "publishEvents", "POST", "/events/batch", "internal", "service",
    repeatable="with_idempotency_key",
)
ERASE_EXTERNAL_USER = Operation(
    "eraseExternalUser", "DELETE", "/external-users/{external_user_id}", "platform", "basic",
)
GET_USER_ERASURE = Operation(
    "getUserErasure", "GET", "/external-users/{external_user_id}/erasure", "platform", "basic",
)
ERASE_USER = Operation(
    "eraseUser", "POST", "/external-users/erase", "platform", "basic", accepts_key=True,
)
FIND_USER_ERASURE = Operation(
    "findUserErasure", "GET", "/external-users/erasure", "platform", "basic",
)
LIST_MERCHANT_ACCOUNTS = Operation(
    "listMerchantAccounts", "GET", "/merchant-accounts", "platform", "basic",
)
UNLINK_ACCOUNT = Operation(
    "unlinkAccount", "POST", "/accounts/unlink", "platform", "basic", accepts_key=True,
)
LIST_MERCHANT_STATUSES = Operation(
    "listMerchantStatuses", "GET", "/merchants/{id}/status", "internal", "service",
)
SET_MERCHANT_STATUS = Operation(
    "setMerchantStatus", "PUT", "/merchants/{id}/status", "internal", "service",
)
LIST_MERCHANTS = Operation("listMerchants", "GET", "/merchants", "platform", "basic")
REVOKE_TOKEN = Operation("revokeToken", "POST", "/oauth/revoke", "dashboard", "none")
INTROSPECT_TOKEN = Operation("introspectToken", "POST", "/oauth/introspect", "dashboard", "basic")
GET_AUTHORIZATION_SERVER_METADATA = Operation(
    "getAuthorizationServerMetadata", "GET", "/.well-known/oauth-authorization-server", "dashboard",
    "none",
)
GET_JSON_WEB_KEY_SET = Operation(
    "getJsonWebKeySet", "GET", "/.well-known/jwks.json", "dashboard", "none",
)
GET_CURRENT_USER = Operation("getCurrentUser", "GET", "/me", "dashboard", "bearer")
GET_REQUEST_LOG = Operation("getRequestLog", "GET", "/request-logs/{id}", "dashboard", "bearer")
LINK_SANDBOX_ACCOUNT = Operation(
    "linkSandboxAccount", "POST", "/development/accounts/link", "platform", "basic",
)
DISCONNECT_SANDBOX_ACCOUNT = Operation(
    "disconnectSandboxAccount", "POST", "/development/accounts/disconnect", "platform", "basic",
)
DETECT_SANDBOX_ACCOUNTS = Operation(
    "detectSandboxAccounts", "POST", "/development/detected-accounts", "platform", "basic",
)
TRIGGER_SANDBOX_WEBHOOK = Operation(
    "triggerSandboxWebhook", "POST", "/development/webhooks/trigger", "platform", "basic",
)
CREATE_SESSION = Operation(
    "createSession", "POST", "/session/create", "platform", "basic", accepts_key=True,
)
EXTEND_SESSION = Operation(
    "extendSession", "POST", "/session/extend", "platform", "basic",
    repeatable="with_idempotency_key", accepts_key=True,
)
OPEN_SESSION = Operation("openSession", "POST", "/session/open", "platform", "none")
LIST_SIGN_IN_LINKS = Operation("listSignInLinks", "GET", "/sign-in-links", "platform", "basic")
CREATE_SIGN_IN_LINK = Operation(
    "createSignInLink", "POST", "/sign-in-links", "platform", "basic",
    repeatable="with_idempotency_key", accepts_key=True,
)
GET_SIGN_IN_LINK = Operation("getSignInLink", "GET", "/sign-in-links/{id}", "platform", "basic")
CANCEL_SIGN_IN_LINK = Operation(
    "cancelSignInLink", "POST", "/sign-in-links/{id}/cancel", "platform", "basic", accepts_key=True,
)
LIST_WEBHOOK_ENDPOINTS = Operation(
    "listWebhookEndpoints", "GET", "/webhook-endpoints", "dashboard", "bearer",
)
GET_WEBHOOK_ENDPOINT = Operation(
    "getWebhookEndpoint", "GET", "/webhook-endpoints/{id}", "dashboard", "bearer",
)
UPDATE_WEBHOOK_ENDPOINT = Operation(
    "updateWebhookEndpoint", "PATCH", "/webhook-endpoints/{id}", "dashboard", "bearer",
)
DELETE_WEBHOOK_ENDPOINT = Operation(
    "deleteWebhookEndpoint", "DELETE", "/webhook-endpoints/{id}", "dashboard", "bearer",
)
ROTATE_WEBHOOK_ENDPOINT_KEY = Operation(
    "rotateWebhookEndpointKey", "POST", "/webhook-endpoints/{id}/rotate-key", "dashboard", "bearer",
    repeatable="with_idempotency_key", accepts_key=True,
)
STREAM_WEBHOOKS = Operation(
    "streamWebhooks", "GET", "/development/webhooks/stream", "platform", "basic",
)
READ_WEBHOOK_EVENTS = Operation("readWebhookEvents", "GET", "/webhook-events", "platform", "basic")
TEST_WEBHOOK_ENDPOINT = Operation(
    "testWebhookEndpoint", "POST", "/webhook-endpoints/{id}/test", "dashboard", "bearer",
)
REDELIVER_WEBHOOK = Operation(
    "redeliverWebhook", "POST", "/webhook-endpoints/{id}/redeliver", "dashboard", "bearer",
)
GET_WEBHOOK_RECOVERY = Operation(
    "getWebhookRecovery", "GET", "/webhook-endpoints/{id}/recover", "dashboard", "bearer",
)
RECOVER_WEBHOOKS = Operation(
    "recoverWebhooks", "POST", "/webhook-endpoints/{id}/recover", "dashboard", "bearer",
)
GET_EVENT = Operation("getEvent", "GET", "/events/{id}", "internal", "service")
