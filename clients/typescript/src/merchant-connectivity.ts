// Generated from openapi.json. Run `npm run openapi` after changes.
import type { Pages } from './pages.js';
import type {
  AccessTokenResponse,
  AgentConnectionResponse,
  AgentUserRequest,
  ApplicationReceipt,
  AuditLogEntryResponse,
  AuthorizationServerMetadata,
  CompletedAuthorizationResponse,
  ConnectionCodeResponse,
  CreateDetectionRequest,
  CreateMcpTokenRequest,
  CreateSessionRequest,
  CreateSignInLinkRequest,
  CreateWebhookEndpointRequest,
  CreatedSignInLinkResponse,
  CurrentUserResponse,
  DetectAccountsRequest,
  DeviceCodeRequest,
  DeviceCodeResponse,
  DisconnectAccountRequest,
  EraseUserRequest,
  EventResponse,
  EventResultsResponse,
  EventStatusResponse,
  ExchangeDeviceCodeRequest,
  ExtendSessionRequest,
  FindUserErasureQuery,
  IdentifyDetectedAccountsRequest,
  IdentifyDetectedAccountsResponse,
  IntrospectTokenRequest,
  IntrospectionResponse,
  JsonWebKeySet,
  LinkAccountRequest,
  LinkedAccountResponse,
  ListAgentConnectionsQuery,
  ListAuditLogsQuery,
  ListMerchantAccountsQuery,
  ListMerchantStatusesResponse,
  ListMerchantsQuery,
  ListMerchantsResponse,
  ListRequestLogsQuery,
  ListSignInLinksQuery,
  ListWebhookEndpointsQuery,
  McpTokenResponse,
  MerchantAccountResponse,
  MerchantStatusResponse,
  OpenSessionRequest,
  OpenedSessionResponse,
  PublishEventRequest,
  PublishEventsRequest,
  PublishedEventResponse,
  QueuedDeliveriesResponse,
  ReadWebhookEventsQuery,
  RecoverRequest,
  RecoveryResponse,
  RedeliverRequest,
  RequestLogEntryResponse,
  RevocationResponse,
  RevokeTokenRequest,
  RotateWebhookEndpointKeyRequest,
  SearchDetectedAccountsRequest,
  SearchDetectedAccountsResponse,
  SessionResponse,
  SetMerchantStatusRequest,
  SignInLinkResponse,
  SingleRequestLogEntryResponse,
  SubmitApplicationRequest,
  TestWebhookEndpointRequest,
  TestedWebhookEndpointResponse,
  TriggerWebhookRequest,
  TriggeredWebhookResponse,
  UnlinkAccountRequest,
  UpdateWebhookEndpointRequest,
  UserErasureResponse,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
  WebhookEventListResponse,
} from './schemas.js';
import { Transport, type RequestOptions } from './transport.js';

/**
 * A client of the service. It has a method for each operation, with the name that the API document gives it.
 */
export class MerchantConnectivity extends Transport {
  /**
   * Create MCP token.
   *
   * Creates a short-lived token that connects an agent to the agent connector, an MCP server at `/mcp`, on behalf of one of your users: see `/docs/agent-connector`. Call this operation from your backend at the start of each agent session and pass the token to the agent. The token is returned only once. Limit: 600 requests per minute per client, including authenticated requests that fail.
   */
  createMcpToken(body: CreateMcpTokenRequest, options?: RequestOptions): Promise<McpTokenResponse> {
    return this.send(
      'createMcpToken',
      { method: 'POST', path: '/mcp/tokens/create', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * Request device code.
   *
   * Starts the device authorization flow (RFC 8628). Show the user `user_code` and `verification_uri`, then poll `POST /oauth/token` with `device_code`. The user logs in to the dashboard, enters the code, sees what requests access and approves or declines it. Only users of the organization that owns the client can find the code. Limit: 60 requests per minute per IP address.
   */
  requestDeviceCode(body: DeviceCodeRequest, options?: RequestOptions): Promise<DeviceCodeResponse> {
    return this.send(
      'requestDeviceCode',
      { method: 'POST', path: '/oauth/device/code', surface: 'dashboard', credentials: 'none', form: body },
      options,
    );
  }

  /**
   * Exchange device code for access token.
   *
   * Exchanges a device code for an access token (RFC 8628). Poll this operation with the `device_code` until the user has decided. On `authorization_pending`, continue. On `slow_down`, continue with the `interval` of the response. On 429 or 503, retry after `Retry-After`; on 500, after the interval. Every other error ends the flow. The token is valid for 15 minutes in the environment of the client that it was issued for. It becomes invalid immediately when it is revoked or its user is removed. Each code can be exchanged once. Limit: 1200 requests per minute per IP address, and one request per `interval` per code.
   */
  exchangeDeviceCode(
    body: ExchangeDeviceCodeRequest,
    options?: RequestOptions,
  ): Promise<AccessTokenResponse> {
    return this.send(
      'exchangeDeviceCode',
      { method: 'POST', path: '/oauth/token', surface: 'dashboard', credentials: 'none', form: body },
      options,
    );
  }

  /**
   * List request logs.
   *
   * Returns the API requests and the webhook delivery attempts of an environment as one list, newest first. Use it to see what your program sent and how your endpoints responded. Entries must match all given filters; `event` with `type=request` matches nothing. Credentials, bodies of requests and of successful responses, and headers other than `User-Agent` are not stored.
   */
  listRequestLogs(query: ListRequestLogsQuery, options?: RequestOptions): Pages<RequestLogEntryResponse> {
    return this.pages(
      'listRequestLogs',
      { method: 'GET', path: '/request-logs', surface: 'dashboard', credentials: 'bearer', query },
      options,
    );
  }

  /**
   * Get audit logs.
   *
   * Returns what the users of your organization did, and tried to do, in the dashboard. The log covers both environments, newest entries first. Entries are never changed or deleted. Requires production credentials.
   */
  listAuditLogs(query: ListAuditLogsQuery = {}, options?: RequestOptions): Pages<AuditLogEntryResponse> {
    return this.pages(
      'listAuditLogs',
      { method: 'GET', path: '/audit_logs', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Search detected accounts.
   *
   * Returns for each name whether an account of the user was detected at that merchant. Call this operation when you receive the `NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Matching ignores case, accents, punctuation and spacing, knows common aliases of merchants, and finds Netflix under "Netflix account", "Netflix, Inc." and "www.netflix.com" too. Results are in the order of `names`, including duplicates. For an unknown user, nothing is detected.
   */
  searchDetectedAccounts(
    body: SearchDetectedAccountsRequest,
    options?: RequestOptions,
  ): Promise<SearchDetectedAccountsResponse> {
    return this.send(
      'searchDetectedAccounts',
      { method: 'POST', path: '/detected-accounts/search', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * Identify detected accounts (by arrangement).
   *
   * Works like "Search detected accounts", with the names in the `name` field. The operation responds with 403 `NO_ACCESS` until access is arranged for your client.
   */
  identifyDetectedAccounts(
    body: IdentifyDetectedAccountsRequest,
    options?: RequestOptions,
  ): Promise<IdentifyDetectedAccountsResponse> {
    return this.send(
      'identifyDetectedAccounts',
      {
        method: 'POST',
        path: '/detected_accounts/identify',
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Create webhook endpoint.
   *
   * Starts to send the events of the environment to this URL. Use it when a receiver is ready to respond. An environment can have at most 10 endpoints with different URLs.
   */
  createWebhookEndpoint(
    body: CreateWebhookEndpointRequest,
    options?: RequestOptions,
  ): Promise<WebhookEndpointResponse> {
    return this.send(
      'createWebhookEndpoint',
      {
        method: 'POST',
        path: '/webhook-endpoints/create',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Submit job application.
   *
   * Submits a job application. Use it for the form on a careers page. At least one of `github_url` and `linkedin_url` is required. If required fields are missing, the error message lists all of them. Only recruiters can read applications. An application is deleted after 365 days. Limit: 30 requests per hour per IP address.
   */
  submitJobApplication(
    body: SubmitApplicationRequest,
    options?: RequestOptions,
  ): Promise<ApplicationReceipt> {
    return this.send(
      'submitJobApplication',
      { method: 'POST', path: '/apply', repeatable: 'never', surface: 'careers', credentials: 'none', body },
      options,
    );
  }

  /**
   * Complete agent authorization.
   *
   * Says which of your users has logged in: to connect an agent, to use a sign-in link, or to open the page of the user. Users come to your login address with an `authorization_id`. Log the user in as always, call this operation from your backend with the credentials of the environment in the query of the address, and redirect the browser to the `redirect_url`, where the user continues. Works once, within 10 minutes. Until the browser has returned, a repeated request gets the same response.
   */
  completeAgentAuthorization(
    authorization_id: string | number,
    body: AgentUserRequest,
    options?: RequestOptions,
  ): Promise<CompletedAuthorizationResponse> {
    return this.send(
      'completeAgentAuthorization',
      {
        method: 'POST',
        path: '/mcp/authorizations/{authorization_id}/complete',
        inPath: { authorization_id },
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Create connection code.
   *
   * Creates a code with which one of your users connects an agent, for apps without a login page on the web. Show the code to the user, who types it on the page that the agent opens. It works once, for 5 minutes. Anyone who has the code can connect an agent to the user, so tell the user not to pass it on.
   */
  createConnectionCode(body: AgentUserRequest, options?: RequestOptions): Promise<ConnectionCodeResponse> {
    return this.send(
      'createConnectionCode',
      { method: 'POST', path: '/mcp/connection-codes', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * List agent connections.
   *
   * Returns the agents that your users have connected, the newest first. Use it to show users which agents act for them.
   */
  listAgentConnections(
    query: ListAgentConnectionsQuery = {},
    options?: RequestOptions,
  ): Pages<AgentConnectionResponse> {
    return this.pages(
      'listAgentConnections',
      { method: 'GET', path: '/agent-connections', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Disconnect agent.
   *
   * Ends the connection of an agent: its tokens stop working immediately, and its sign-in links are cancelled. Publishes `AGENT_DISCONNECTED`.
   */
  disconnectAgent(id: string | number, options?: RequestOptions): Promise<AgentConnectionResponse> {
    return this.send(
      'disconnectAgent',
      {
        method: 'DELETE',
        path: '/agent-connections/{id}',
        inPath: { id },
        surface: 'platform',
        credentials: 'basic',
      },
      options,
    );
  }

  /**
   * Record detected accounts.
   *
   * Records that accounts of a user were detected at these merchants now, and publishes `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it in the pipeline that detects accounts. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`.
   */
  createDetection(body: CreateDetectionRequest, options?: RequestOptions): Promise<EventResponse> {
    return this.send(
      'createDetection',
      {
        method: 'POST',
        path: '/detections',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        surface: 'internal',
        credentials: 'service',
        body,
      },
      options,
    );
  }

  /**
   * Publish an event.
   *
   * Publishes an event to all endpoints of a client. Use it to notify clients when something happens in another service of the platform. The response is sent after the commit. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`: an event with the same key and the same content is published only once.
   */
  publishEvent(body: PublishEventRequest, options?: RequestOptions): Promise<EventResponse> {
    return this.send(
      'publishEvent',
      {
        method: 'POST',
        path: '/events',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        surface: 'internal',
        credentials: 'service',
        body,
      },
      options,
    );
  }

  /**
   * Publish a batch of events.
   *
   * Publishes up to 1000 events of any clients, as JSON or as NDJSON with one event on each line. Use it when you have many events: a batch costs much less than the same events one by one. The response has one result for each event, in the same order. Invalid events get an error, and all others are published. The response is sent after the commit.
   */
  publishEvents(body: PublishEventsRequest, options?: RequestOptions): Promise<EventResultsResponse> {
    return this.send(
      'publishEvents',
      {
        method: 'POST',
        path: '/events/batch',
        repeatable: 'with_idempotency_key',
        surface: 'internal',
        credentials: 'service',
        body,
      },
      options,
    );
  }

  /**
   * Erase a user.
   *
   * Erases everything that is stored about one of your users in the environment of the credentials: see `/docs/erasing-users`. MCP tokens of the user stop working before the response is sent. The rest is erased in the background, which takes at least a minute. Until then, data that you send about the user are erased too. You can repeat the request, also for a user who is not known. Clients and proxies change some paths: for identifiers such as `..`, or with slashes, use "Erase a user, named in the body".
   */
  eraseExternalUser(
    external_user_id: string | number,
    options?: RequestOptions,
  ): Promise<UserErasureResponse> {
    return this.send(
      'eraseExternalUser',
      {
        method: 'DELETE',
        path: '/external-users/{external_user_id}',
        inPath: { external_user_id },
        surface: 'platform',
        credentials: 'basic',
      },
      options,
    );
  }

  /**
   * Get the erasure of a user.
   *
   * Returns the progress of the last erasure of a user, for up to a year after it is finished. Use it to find out when nothing is stored about the user anymore.
   */
  getUserErasure(external_user_id: string | number, options?: RequestOptions): Promise<UserErasureResponse> {
    return this.send(
      'getUserErasure',
      {
        method: 'GET',
        path: '/external-users/{external_user_id}/erasure',
        inPath: { external_user_id },
        surface: 'platform',
        credentials: 'basic',
      },
      options,
    );
  }

  /**
   * Erase a user, named in the body.
   *
   * Does the same as "Erase a user", for every identifier: in a path, some characters have a meaning of their own.
   */
  eraseUser(body: EraseUserRequest, options?: RequestOptions): Promise<UserErasureResponse> {
    return this.send(
      'eraseUser',
      { method: 'POST', path: '/external-users/erase', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * Get the erasure of a user, named in the query.
   *
   * Does the same as "Get the erasure of a user", for every identifier.
   */
  findUserErasure(query: FindUserErasureQuery, options?: RequestOptions): Promise<UserErasureResponse> {
    return this.send(
      'findUserErasure',
      { method: 'GET', path: '/external-users/erasure', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * List merchant accounts.
   *
   * Returns the accounts at merchants that one of your users has signed in to. Use it to find out where the user must sign in again.
   */
  listMerchantAccounts(
    query: ListMerchantAccountsQuery,
    options?: RequestOptions,
  ): Pages<MerchantAccountResponse> {
    return this.pages(
      'listMerchantAccounts',
      { method: 'GET', path: '/merchant-accounts', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Unlink an account.
   *
   * Disconnects an account of one of your users, and ends the sign-in at the merchant. Use it when the user no longer wants the account to be connected. No webhook is sent.
   */
  unlinkAccount(body: UnlinkAccountRequest, options?: RequestOptions): Promise<MerchantAccountResponse> {
    return this.send(
      'unlinkAccount',
      { method: 'POST', path: '/accounts/unlink', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * List the statuses of a merchant.
   *
   * Returns the last status of each type of session, and how many clients have been notified of it. Use it to follow the progress of a notification. Types whose status was never set are absent.
   */
  listMerchantStatuses(id: string | number, options?: RequestOptions): Promise<ListMerchantStatusesResponse> {
    return this.send(
      'listMerchantStatuses',
      {
        method: 'GET',
        path: '/merchants/{id}/status',
        inPath: { id },
        surface: 'internal',
        credentials: 'service',
      },
      options,
    );
  }

  /**
   * Set the status of a merchant.
   *
   * Publishes `MERCHANT_STATUS_UPDATE` to every client that does not hide the merchant, in the background. Use it when sessions of a type stop working at the merchant, or work again. If the status is already set, nothing is published again, so retries are safe. If the status changes while clients are being notified, the notification starts again with the new status.
   */
  setMerchantStatus(
    id: string | number,
    body: SetMerchantStatusRequest,
    options?: RequestOptions,
  ): Promise<MerchantStatusResponse> {
    return this.send(
      'setMerchantStatus',
      {
        method: 'PUT',
        path: '/merchants/{id}/status',
        inPath: { id },
        surface: 'internal',
        credentials: 'service',
        body,
      },
      options,
    );
  }

  /**
   * List merchants.
   *
   * Returns at most 10000 merchants, sorted by name, and whether your organization hides them. Use it to find the IDs of merchants, and to show your users which merchants they can choose.
   */
  listMerchants(query: ListMerchantsQuery = {}, options?: RequestOptions): Promise<ListMerchantsResponse> {
    return this.send(
      'listMerchants',
      { method: 'GET', path: '/merchants', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Revoke token.
   *
   * Revokes an access token or an MCP token of the client immediately (RFC 7009). Use it when an agent or a program is done, or when a token is leaked. The response is the same for a token that does not exist or no longer exists. Limit: 1200 requests per minute per IP address.
   */
  revokeToken(body: RevokeTokenRequest, options?: RequestOptions): Promise<RevocationResponse> {
    return this.send(
      'revokeToken',
      { method: 'POST', path: '/oauth/revoke', surface: 'dashboard', credentials: 'none', form: body },
      options,
    );
  }

  /**
   * Introspect token.
   *
   * Returns the state of a token (RFC 7662). An agent connector uses it to find out whom an MCP token acts for, when it expires, and the phone number of the user if there is one. Requires the Basic credentials of the API client. For a token that was issued to another client, the response is only `active: false`. Limit: 12000 requests per minute per client.
   */
  introspectToken(body: IntrospectTokenRequest, options?: RequestOptions): Promise<IntrospectionResponse> {
    return this.send(
      'introspectToken',
      { method: 'POST', path: '/oauth/introspect', surface: 'dashboard', credentials: 'basic', form: body },
      options,
    );
  }

  /**
   * Get authorization server metadata.
   *
   * Returns the OAuth endpoints and capabilities of this server (RFC 8414). OAuth libraries read them automatically. MCP clients cannot use these endpoints. They get 404 on a host that serves only the agent connector and, on any host, if the request has the header `MCP-Protocol-Version`.
   */
  getAuthorizationServerMetadata(options?: RequestOptions): Promise<AuthorizationServerMetadata> {
    return this.send(
      'getAuthorizationServerMetadata',
      {
        method: 'GET',
        path: '/.well-known/oauth-authorization-server',
        surface: 'dashboard',
        credentials: 'none',
      },
      options,
    );
  }

  /**
   * Get JSON Web Key Set.
   *
   * Returns the keys that verify access tokens (RFC 7517). A new key is published 10 minutes before it is used for signing. Cache the response no longer than its `Cache-Control` header allows.
   */
  getJsonWebKeySet(options?: RequestOptions): Promise<JsonWebKeySet> {
    return this.send(
      'getJsonWebKeySet',
      { method: 'GET', path: '/.well-known/jwks.json', surface: 'dashboard', credentials: 'none' },
      options,
    );
  }

  /**
   * Get current user.
   *
   * Returns the authenticated user and the scopes of the access token. Use it to check whether a token works.
   */
  getCurrentUser(options?: RequestOptions): Promise<CurrentUserResponse> {
    return this.send(
      'getCurrentUser',
      { method: 'GET', path: '/me', surface: 'dashboard', credentials: 'bearer' },
      options,
    );
  }

  /**
   * Get a request log entry.
   *
   * Returns one entry. For an API request, the entry also says who sent it. For a delivery attempt, it also has the number of the attempt, the durations of its phases, and the beginning of your endpoint’s response if it was not 200. Use it to find out why a delivery failed. Entries of the other environment are not found.
   */
  getRequestLog(id: string | number, options?: RequestOptions): Promise<SingleRequestLogEntryResponse> {
    return this.send(
      'getRequestLog',
      {
        method: 'GET',
        path: '/request-logs/{id}',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
      },
      options,
    );
  }

  /**
   * Link an account (sandbox).
   *
   * Simulates a user logging in to the merchant: your development endpoints receive `AUTHENTICATED`, and the account is connected. Use it to test your receiver of `AUTHENTICATED` without a real merchant. Sandbox: requires development credentials; nothing real is affected.
   */
  linkSandboxAccount(body: LinkAccountRequest, options?: RequestOptions): Promise<LinkedAccountResponse> {
    return this.send(
      'linkSandboxAccount',
      { method: 'POST', path: '/development/accounts/link', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * Disconnect an account (sandbox).
   *
   * Simulates a merchant requiring the user to log in again: your development endpoints receive `ACCOUNT_LOGIN_REQUIRED`, and the account is disconnected. Link it first. Use this operation to test how your program asks such a user to log in again. Sandbox: requires development credentials; nothing real is affected.
   */
  disconnectSandboxAccount(
    body: DisconnectAccountRequest,
    options?: RequestOptions,
  ): Promise<PublishedEventResponse> {
    return this.send(
      'disconnectSandboxAccount',
      {
        method: 'POST',
        path: '/development/accounts/disconnect',
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Detect accounts (sandbox).
   *
   * Records accounts of the user as detected now: "Search detected accounts" finds them, and your development endpoints receive `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it to test how your program handles detected accounts. Sandbox: requires development credentials; nothing real is affected.
   */
  detectSandboxAccounts(
    body: DetectAccountsRequest,
    options?: RequestOptions,
  ): Promise<PublishedEventResponse> {
    return this.send(
      'detectSandboxAccounts',
      {
        method: 'POST',
        path: '/development/detected-accounts',
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Trigger a webhook (sandbox).
   *
   * Sends the example of an event to your development endpoints, signed and retried like any other event. Use it to test your receiver with any event. Fields that you send replace those of the example; fields that the event does not have are ignored. Sandbox: requires development credentials; nothing real is affected.
   */
  triggerSandboxWebhook(
    body: TriggerWebhookRequest,
    options?: RequestOptions,
  ): Promise<TriggeredWebhookResponse> {
    return this.send(
      'triggerSandboxWebhook',
      {
        method: 'POST',
        path: '/development/webhooks/trigger',
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Create session.
   *
   * Creates a session for one of your users. It is valid for 30 minutes. Call this operation from your backend when a user is about to link a merchant or switch a card, and pass the ID of the session to the client SDK. Every webhook of the session returns the metadata that you attach.
   */
  createSession(body: CreateSessionRequest, options?: RequestOptions): Promise<SessionResponse> {
    return this.send(
      'createSession',
      { method: 'POST', path: '/session/create', surface: 'platform', credentials: 'basic', body },
      options,
    );
  }

  /**
   * Extend session.
   *
   * Adds 30 minutes to the expiry of a session that has not expired. Call this operation while the user is still in the SDK and the session is about to expire. After it has expired, create a new session.
   */
  extendSession(body: ExtendSessionRequest, options?: RequestOptions): Promise<OpenedSessionResponse> {
    return this.send(
      'extendSession',
      {
        method: 'POST',
        path: '/session/extend',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Open session.
   *
   * Opens a session from the client SDK. The only credential is the ID of a session that has not expired. The request can add metadata: values given here override those with the same key, and the limits apply to all metadata of the session together. The request appears in your request logs. Limit: 600 requests per minute per IP address.
   */
  openSession(body: OpenSessionRequest, options?: RequestOptions): Promise<OpenedSessionResponse> {
    return this.send(
      'openSession',
      { method: 'POST', path: '/session/open', surface: 'platform', credentials: 'none', body },
      options,
    );
  }

  /**
   * List sign-in links.
   *
   * Returns the sign-in links of one of your users from the last week, the newest first. Use it to find out whether the user has signed in.
   */
  listSignInLinks(query: ListSignInLinksQuery, options?: RequestOptions): Pages<SignInLinkResponse> {
    return this.pages(
      'listSignInLinks',
      { method: 'GET', path: '/sign-in-links', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Create sign-in link.
   *
   * Creates a link with which one of your users signs in to a merchant, which connects the account. Send the `url` to the user, for example by email. Anyone who opens it must log in on your login page, and continues only as the user of the link. With the proof `phone`, the service sends the link by text message instead. A user gets at most 5 links per hour, and you can create 10000 links per day that are not sent to a phone. See `/docs/sign-in-links`.
   */
  createSignInLink(
    body: CreateSignInLinkRequest,
    options?: RequestOptions,
  ): Promise<CreatedSignInLinkResponse> {
    return this.send(
      'createSignInLink',
      {
        method: 'POST',
        path: '/sign-in-links',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        surface: 'platform',
        credentials: 'basic',
        body,
      },
      options,
    );
  }

  /**
   * Get sign-in link.
   *
   * Returns one of your sign-in links. Use it when the user has returned to you, or instead of the webhooks.
   */
  getSignInLink(id: string | number, options?: RequestOptions): Promise<SignInLinkResponse> {
    return this.send(
      'getSignInLink',
      {
        method: 'GET',
        path: '/sign-in-links/{id}',
        inPath: { id },
        surface: 'platform',
        credentials: 'basic',
      },
      options,
    );
  }

  /**
   * Cancel sign-in link.
   *
   * Cancels a sign-in link that is still pending, so that nobody can sign in with it. A link that has ended stays as it is. Publishes no event.
   */
  cancelSignInLink(id: string | number, options?: RequestOptions): Promise<SignInLinkResponse> {
    return this.send(
      'cancelSignInLink',
      {
        method: 'POST',
        path: '/sign-in-links/{id}/cancel',
        inPath: { id },
        surface: 'platform',
        credentials: 'basic',
      },
      options,
    );
  }

  /**
   * List webhook endpoints.
   *
   * Returns the webhook endpoints of an environment, at most 10, in the order in which they were created. Use it to see where events are sent, and to find the IDs that other operations require.
   */
  listWebhookEndpoints(
    query: ListWebhookEndpointsQuery,
    options?: RequestOptions,
  ): Promise<WebhookEndpointListResponse> {
    return this.send(
      'listWebhookEndpoints',
      { method: 'GET', path: '/webhook-endpoints', surface: 'dashboard', credentials: 'bearer', query },
      options,
    );
  }

  /**
   * Get a webhook endpoint.
   *
   * Returns one endpoint. Use it if you stored the ID of the endpoint.
   */
  getWebhookEndpoint(id: string | number, options?: RequestOptions): Promise<WebhookEndpointResponse> {
    return this.send(
      'getWebhookEndpoint',
      {
        method: 'GET',
        path: '/webhook-endpoints/{id}',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
      },
      options,
    );
  }

  /**
   * Change a webhook endpoint.
   *
   * Changes the fields that you send. Absent fields keep their values, and so do `url` and `status` if they are `null`. Use it when your receiver moves, to choose events, to pause and resume deliveries, and to enable an endpoint that the service has disabled. A new URL applies to all attempts from then on, also of events that wait for a retry, and the health starts again.
   */
  updateWebhookEndpoint(
    id: string | number,
    body?: UpdateWebhookEndpointRequest,
    options?: RequestOptions,
  ): Promise<WebhookEndpointResponse> {
    return this.send(
      'updateWebhookEndpoint',
      {
        method: 'PATCH',
        path: '/webhook-endpoints/{id}',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Delete a webhook endpoint.
   *
   * Deletes an endpoint and its pending deliveries. Use it when you no longer operate the receiver.
   */
  deleteWebhookEndpoint(id: string | number, options?: RequestOptions): Promise<WebhookEndpointResponse> {
    return this.send(
      'deleteWebhookEndpoint',
      {
        method: 'DELETE',
        path: '/webhook-endpoints/{id}',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
      },
      options,
    );
  }

  /**
   * Rotate the key of a webhook endpoint.
   *
   * Makes a new key, and lets the previous one sign, too, until the overlap ends. Add the new key to your receiver during the overlap. Use it regularly, after a leak, and to change what signs the deliveries.
   */
  rotateWebhookEndpointKey(
    id: string | number,
    body?: RotateWebhookEndpointKeyRequest,
    options?: RequestOptions,
  ): Promise<WebhookEndpointResponse> {
    return this.send(
      'rotateWebhookEndpointKey',
      {
        method: 'POST',
        path: '/webhook-endpoints/{id}/rotate-key',
        repeatable: 'with_idempotency_key',
        acceptsKey: true,
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Stream webhooks (sandbox).
   *
   * Sends the events of your development client over this connection, as server-sent events. Use it to receive events on a machine that has no public URL; `mcs listen` forwards them to a local server.
   */
  streamWebhooks(options?: RequestOptions): Promise<Response> {
    return this.open(
      'streamWebhooks',
      { method: 'GET', path: '/development/webhooks/stream', surface: 'platform', credentials: 'basic' },
      options,
    );
  }

  /**
   * Read webhook events.
   *
   * Returns the events of your client in the order in which they were published, whether or not an endpoint received them. Use it if you have no public receiver, or to find what a receiver missed.
   */
  readWebhookEvents(
    query: ReadWebhookEventsQuery = {},
    options?: RequestOptions,
  ): Promise<WebhookEventListResponse> {
    return this.send(
      'readWebhookEvents',
      { method: 'GET', path: '/webhook-events', surface: 'platform', credentials: 'basic', query },
      options,
    );
  }

  /**
   * Test a webhook endpoint.
   *
   * Sends an example event to the endpoint, signed like every event, and returns the result. Use it after you set up an endpoint, and when deliveries fail. The event is sent once, regardless of the response and of the status and events of the endpoint, and appears in the request log. The operation takes up to 10 seconds. If three tests of your organization are running, a further one waits for up to 10 seconds more, and is then refused.
   */
  testWebhookEndpoint(
    id: string | number,
    body?: TestWebhookEndpointRequest,
    options?: RequestOptions,
  ): Promise<TestedWebhookEndpointResponse> {
    return this.send(
      'testWebhookEndpoint',
      {
        method: 'POST',
        path: '/webhook-endpoints/{id}/test',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Send an event again.
   *
   * Sends an event to the current URL of the endpoint once more, with retries, whether or not it was received before. Use it if your receiver lost an event. An event that waits for a retry is sent now, as one more attempt: if that fails, the retries go on. An event that is being sent gets no further attempt: `queued` is 0. Events are retained as long as the request log. The endpoint must be subscribed to the event. If it is paused, the event waits.
   */
  redeliverWebhook(
    id: string | number,
    body: RedeliverRequest,
    options?: RequestOptions,
  ): Promise<QueuedDeliveriesResponse> {
    return this.send(
      'redeliverWebhook',
      {
        method: 'POST',
        path: '/webhook-endpoints/{id}/redeliver',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Get the last recovery of a webhook endpoint.
   *
   * Returns how far the last recovery has come. Use it after you requested one, until it is finished.
   */
  getWebhookRecovery(id: string | number, options?: RequestOptions): Promise<RecoveryResponse> {
    return this.send(
      'getWebhookRecovery',
      {
        method: 'GET',
        path: '/webhook-endpoints/{id}/recover',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
      },
      options,
    );
  }

  /**
   * Recover missed events.
   *
   * Sends every event again that the endpoint has not received since a given time: events whose last attempt failed, and events that it missed while it was disabled. Events that it is not subscribed to are left out. Use it after an outage of your receiver. The service does this in the background. An endpoint has one recovery at a time: while one is running, the response describes that one. Events with pending retries are skipped, so you can safely repeat the request.
   */
  recoverWebhooks(
    id: string | number,
    body: RecoverRequest,
    options?: RequestOptions,
  ): Promise<RecoveryResponse> {
    return this.send(
      'recoverWebhooks',
      {
        method: 'POST',
        path: '/webhook-endpoints/{id}/recover',
        inPath: { id },
        surface: 'dashboard',
        credentials: 'bearer',
        body,
      },
      options,
    );
  }

  /**
   * Get the status of an event.
   *
   * Returns an event of any client, with its deliveries. Use it to find out whether the endpoints have received an event that you published. Events are kept as long as the request log.
   */
  getEvent(id: string | number, options?: RequestOptions): Promise<EventStatusResponse> {
    return this.send(
      'getEvent',
      { method: 'GET', path: '/events/{id}', inPath: { id }, surface: 'internal', credentials: 'service' },
      options,
    );
  }
}
