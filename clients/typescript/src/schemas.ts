// Generated from openapi.json. Run `npm run openapi` after changes.
export interface components {
  schemas: {
    AccessTokenResponse: {
      /**
       * @description How to send the token.
       * @example Bearer
       * @constant
       */
      token_type: 'Bearer';
      /**
       * @description Seconds until the token expires.
       * @example 900
       */
      expires_in: number;
      /**
       * @description The token, a JWT (RFC 9068). Keep it secret: anyone who has it can act for the user or the API key.
       * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl
       */
      access_token: string;
      /**
       * @description The scopes of the token, separated by spaces.
       * @example request_logs:read webhook_endpoints:read webhook_endpoints:write
       */
      scope: string;
    };
    /** @description The account is disconnected: the user must log in to the merchant again. Start a session for this. */
    AccountLoginRequiredWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'ACCOUNT_LOGIN_REQUIRED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description This event has no further fields: an empty object. Fields may be added. */
      data: components['schemas']['AccountLoginRequiredWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description This event has no further fields: an empty object. Fields may be added. */
    AccountLoginRequiredWebhookData: Record<string, never>;
    /** @description A merchant. */
    AccountMerchantResponse: {
      /**
       * @description ID of the merchant.
       * @example 16
       */
      id: number;
      /**
       * @description Name of the merchant.
       * @example Netflix
       */
      name: string;
    };
    /** @description The user has connected an agent, which may act for the user from now on. */
    AgentConnectedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'AGENT_CONNECTED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['AgentConnectedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    AgentConnectedWebhookData: {
      /** @description ID of the connection, as in `GET /agent-connections`. */
      connection_id: string;
      /** @description The agent. */
      agent: components['schemas']['ConnectedAgent'];
    };
    AgentConnectionResponse: {
      /**
       * Format: uuid
       * @description ID of the connection.
       * @example c2f0a9d4-5b1e-4d3c-8f7a-6e5d4c3b2a19
       */
      id: string;
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /** @description The agent. */
      agent: components['schemas']['ConnectedAgentResponse'];
      /**
       * @description What the user has allowed.
       * @example [
       *       "accounts:read",
       *       "sign_in_links:write"
       *     ]
       */
      scopes: components['schemas']['AgentScope'][];
      /**
       * Format: date-time
       * @description When the user connected the agent.
       * @example 2026-01-31T08:15:30.123Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the agent last got an access token, which is valid for an hour.
       * @example 2026-01-31T08:15:30.123Z
       */
      last_used_at: string;
      /**
       * Format: date-time
       * @description When the connection ends if the agent does not use it.
       * @example 2026-01-31T08:15:30.123Z
       */
      expires_at: string;
    };
    /** @description A connected agent may no longer act for the user: you, the dashboard, the user or the agent ended the connection, or a token was used twice. */
    AgentDisconnectedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'AGENT_DISCONNECTED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['AgentDisconnectedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    AgentDisconnectedWebhookData: {
      /** @description ID of the connection, as in `GET /agent-connections`. */
      connection_id: string;
      /** @description The agent. */
      agent: components['schemas']['ConnectedAgent'];
    };
    /**
     * @description What an agent may do for a user.
     * @enum {string}
     */
    AgentScope: 'accounts:read' | 'sign_in_links:write';
    AgentUserRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; without it, the agent creates sign-in links only if you have a login page, where the user must log in.
       * @example +12125550123
       */
      phone_number?: string | null;
    };
    ApplicationReceipt: {
      /**
       * Format: uuid
       * @description ID of the application. Quote it if you ask about your application.
       * @example 5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11
       */
      id: string;
      /**
       * Format: date-time
       * @description When the application was received.
       * @example 2026-01-31T08:15:30.123Z
       */
      received_at: string;
    };
    /**
     * @description An action that the audit log records. More actions may be added.
     * @enum {string}
     */
    AuditAction:
      | 'access_grant.create'
      | 'access_grant.revoke'
      | 'account.activate'
      | 'account.create'
      | 'account.logo_update'
      | 'account.update'
      | 'agent.approve'
      | 'agent.decline'
      | 'agent.disconnect'
      | 'agent.refuse'
      | 'agent.register'
      | 'agent.remove'
      | 'agent.reuse'
      | 'agent.settings_update'
      | 'audit_log.export'
      | 'audit_stream.remove'
      | 'audit_stream.skip'
      | 'audit_stream.update'
      | 'auth.device_approve'
      | 'auth.device_deny'
      | 'auth.device_revoke'
      | 'auth.login'
      | 'auth.logout'
      | 'auth.passkey_add'
      | 'auth.passkey_remove'
      | 'auth.passkey_rename'
      | 'auth.password_change'
      | 'auth.password_reset'
      | 'auth.provider_link'
      | 'auth.provider_unlink'
      | 'auth.recovery_codes_renew'
      | 'auth.session_end'
      | 'auth.two_factor_disable'
      | 'auth.two_factor_enable'
      | 'client.create'
      | 'client.update'
      | 'detected_account.import'
      | 'domain.add'
      | 'domain.lose_proof'
      | 'domain.prove'
      | 'domain.remove'
      | 'external_user.erase'
      | 'key.create'
      | 'key.end'
      | 'key.rotate'
      | 'key.update'
      | 'merchant.activate'
      | 'merchant.export'
      | 'merchant.hide'
      | 'merchant_account.unlink'
      | 'request_log.export'
      | 'secret.rotate'
      | 'secret.view'
      | 'service_token.create'
      | 'service_token.revoke'
      | 'service_token.rotate'
      | 'sign_in_link.cancel'
      | 'sign_in_link.create'
      | 'sign_in_link.refuse'
      | 'sso.add'
      | 'sso.disable'
      | 'sso.enable'
      | 'sso.settings_update'
      | 'sso.update'
      | 'user.add'
      | 'user.invite'
      | 'user.remove'
      | 'user.unlock'
      | 'user.update'
      | 'user_login.complete'
      | 'user_login.refuse'
      | 'webhook.create'
      | 'webhook.delete'
      | 'webhook.resend'
      | 'webhook.rotate_key'
      | 'webhook.update'
      | 'webhook.view_key';
    /** @description The dashboard user, API key, API client or operator that performed the action. */
    AuditActorResponse: {
      /**
       * @description Name of the user or API key at the time. `operator` for an operator of the platform.
       * @example Ada Lovelace
       */
      name: string;
      /**
       * @description Email address of the user at the time. `API key` for an API key, `operator` for an operator of the platform.
       * @example ada@example.com
       */
      email: string;
    };
    /** @description A field that the action changed. A list of more than 256 characters is in several changes of the field, part by part. */
    AuditChangeResponse: {
      /**
       * @description The name of the field.
       * @example role
       */
      field: string;
      /**
       * @description The value before, at most 256 characters; null if there was none.
       * @example viewer
       */
      from: string | null;
      /**
       * @description The value after, at most 256 characters; null if there is none.
       * @example member
       */
      to: string | null;
    };
    /** @description Where the user performed the action. */
    AuditContextResponse: {
      /**
       * @description IP address of the user. Empty for an operator of the platform.
       * @example 203.0.113.7
       */
      ip: string;
      /**
       * @description First 512 characters of the `User-Agent` header of the user’s browser or program.
       * @example Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0
       */
      user_agent: string;
    };
    /** @description The action and its outcome. */
    AuditEventResponse: {
      /**
       * @description The action. More actions may be added.
       * @example secret.view
       */
      action: components['schemas']['AuditAction'];
      /** @description The outcome of the action. */
      outcome: components['schemas']['AuditOutcomeResponse'];
    };
    AuditLogEntryResponse: {
      /**
       * Format: uuid
       * @description ID of the entry.
       * @example 5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11
       */
      id: string;
      /**
       * Format: date-time
       * @description When the action happened.
       * @example 2026-01-31T08:15:30.123Z
       */
      datetime: string;
      /** @description The action and its outcome. */
      event: components['schemas']['AuditEventResponse'];
      /** @description The dashboard user, API key, API client or operator that performed the action. */
      actor: components['schemas']['AuditActorResponse'];
      /** @description The target of the action. */
      target: components['schemas']['AuditTargetResponse'];
      /** @description Where the user performed the action. */
      context: components['schemas']['AuditContextResponse'];
      /**
       * @description What the action changed, with `***` in place of anything that looks like a secret; null if it changed no field, or if the entry is older than this field.
       * @example null
       */
      changes: components['schemas']['AuditChangeResponse'][] | null;
    };
    /**
     * @description How an action ended.
     * @enum {string}
     */
    AuditOutcome: 'success' | 'failure' | 'denied';
    /** @description The outcome of the action. */
    AuditOutcomeResponse: {
      /**
       * @description `denied`: the user is not allowed to do this, or made too many attempts: one entry stands for all such attempts of an hour. `failure`: the attempt did not succeed, for example because of a wrong password.
       * @example success
       */
      status: components['schemas']['AuditOutcome'];
    };
    /** @description The target of the action. */
    AuditTargetResponse: {
      /**
       * @description The kind of target. [Audit actions](/docs/audit-actions) lists them; more may be added.
       * @example secret
       */
      type: string;
      /**
       * @description Name of the target at the time; its ID if the action was denied; null if it has no name.
       * @example null
       */
      name: string | null;
      /**
       * @description The environment of the target. Targets that belong to the whole organization, such as users and domains, count as `production`.
       * @example production
       */
      environment: components['schemas']['Environment'];
    };
    /** @description Fields that depend on the event. */
    AuthenticatedData: {
      /** @description Your own ID for the card. */
      card_id: string | null;
    };
    /** @description The user has logged in to the merchant: the account is linked. `card_id` is null if the session has no card, as after a sign-in link. */
    AuthenticatedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'AUTHENTICATED';
      /**
       * Format: uuid
       * @description The session that the event belongs to.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['AuthenticatedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    AuthenticatedWebhookData: {
      /** @description Your own ID for the card. */
      card_id: string | null;
      /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
      metadata?: components['schemas']['WebhookMetadata'];
    };
    /** @description Metadata of an authorization server: [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2). The `issuer` is the `iss` of tokens, and also their `aud`. The grants are the device flow, and client credentials for API keys, and tokens of workloads that a key trusts. Introspection requires the credentials of the API client. */
    AuthorizationServerMetadata: {
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com
       */
      issuer: string;
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com/oauth/device/code
       */
      device_authorization_endpoint: string;
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com/oauth/token
       */
      token_endpoint: string;
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com/oauth/revoke
       */
      revocation_endpoint: string;
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com/oauth/introspect
       */
      introspection_endpoint: string;
      /**
       * Format: uri
       * @description Defined in RFC 8414 and its extensions.
       * @example https://dashboard.example.com/.well-known/jwks.json
       */
      jwks_uri: string;
      /**
       * @description Defined in RFC 8414 and its extensions.
       * @example [
       *       "urn:ietf:params:oauth:grant-type:device_code",
       *       "client_credentials",
       *       "urn:ietf:params:oauth:grant-type:jwt-bearer"
       *     ]
       */
      grant_types_supported: string[];
      /**
       * @description Defined in RFC 8414 and its extensions.
       * @example []
       */
      response_types_supported: string[];
      /**
       * @description Scopes that a token can have.
       * @example [
       *       "accounts:read",
       *       "accounts:write",
       *       "agents:read",
       *       "agents:write",
       *       "audit_logs:read",
       *       "detected_accounts:read",
       *       "mcp_tokens:write",
       *       "merchants:read",
       *       "request_logs:read",
       *       "sandbox:write",
       *       "sessions:write",
       *       "sign_in_links:read",
       *       "sign_in_links:write",
       *       "tokens:introspect",
       *       "users:erase",
       *       "users:identify",
       *       "webhook_endpoints:read",
       *       "webhook_endpoints:write",
       *       "webhook_events:read"
       *     ]
       */
      scopes_supported: components['schemas']['Scope'][];
      /**
       * @description Defined in RFC 8414 and its extensions.
       * @example [
       *       "none",
       *       "client_secret_basic",
       *       "client_secret_post"
       *     ]
       */
      token_endpoint_auth_methods_supported: string[];
      /**
       * @description Defined in RFC 8414 and its extensions.
       * @example [
       *       "none"
       *     ]
       */
      revocation_endpoint_auth_methods_supported: string[];
      /**
       * @description Defined in RFC 8414 and its extensions.
       * @example [
       *       "client_secret_basic"
       *     ]
       */
      introspection_endpoint_auth_methods_supported: string[];
    };
    /** @description Fields that depend on the event. */
    CardFailedData: {
      /** @description Your own ID for the card. */
      card_id: string;
      /** @description The reason as a sentence. The wording may change. */
      reason: string;
    };
    /** @description The card could not be saved at the merchant. */
    CardFailedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'CARD_FAILED';
      /**
       * Format: uuid
       * @description The session that the event belongs to.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['CardFailedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    CardFailedWebhookData: {
      /** @description Your own ID for the card. */
      card_id: string;
      /** @description The reason as a sentence. The wording may change. */
      reason: string;
      /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
      metadata?: components['schemas']['WebhookMetadata'];
    };
    /** @description Fields that depend on the event. */
    CardUpdatedData: {
      /** @description Your own ID for the card. */
      card_id: string;
    };
    /** @description The merchant now charges the card. */
    CardUpdatedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'CARD_UPDATED';
      /**
       * Format: uuid
       * @description The session that the event belongs to.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['CardUpdatedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    CardUpdatedWebhookData: {
      /** @description Your own ID for the card. */
      card_id: string;
      /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
      metadata?: components['schemas']['WebhookMetadata'];
    };
    CompletedAuthorizationResponse: {
      /**
       * Format: uri
       * @description Redirect the user’s browser to this address. It works once, in the browser in which the user started.
       * @example https://agents.example.com/connections/19b11f7c-4c8e-49bf-853e-3cea2462349f/authorizations/6b8c1d9e-2f43-4f5a-9c1b-7a0e3d2c4b59?ticket=example
       */
      redirect_url: string;
    };
    /** @description The agent. */
    ConnectedAgent: {
      /** @description What the agent calls itself. */
      name: string;
      /** @description The host that the user was returned to. */
      host: string;
    };
    /** @description An agent. */
    ConnectedAgentResponse: {
      /**
       * @description What the agent calls itself.
       * @example Example Agent
       */
      name: string;
      /**
       * @description The host that the user was returned to.
       * @example agent.example.com
       */
      host: string;
    };
    ConnectionCodeResponse: {
      /**
       * @description The code to show to the user.
       * @example WDJB-MJHT
       */
      code: string;
      /**
       * Format: date-time
       * @description When the code expires: after 5 minutes.
       * @example 2026-01-31T08:15:30.123Z
       */
      expires_at: string;
    };
    CreateDetectionRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description 1 to 100 merchants, by name in any common spelling or by ID.
       * @example [
       *       "DoorDash",
       *       16
       *     ]
       */
      merchants: components['schemas']['MerchantNameOrId'][];
      /**
       * Format: uuid
       * @description The API client that the user belongs to.
       * @example 3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d
       */
      client_id: string;
      /**
       * @description Makes retries safe: an event with the same key and content is published once.
       * @example detection-4711
       */
      idempotency_key?: string | null;
    };
    CreateMcpTokenRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description Seconds until the token expires, from 60 seconds to 30 days. The default is 24 hours.
       * @example 3600
       */
      expires_in?: number | null;
      /**
       * @description E.164; a valid US or Canadian number. Leave it out for other users. With it, agents send sign-in links by text message; without it, they create sign-in links only if you have a login page, where the user must log in.
       * @example +12125550123
       */
      phone_number?: string | null;
    };
    CreateSessionRequest: {
      /**
       * @description The purpose of the session.
       * @example card_switcher
       */
      type: components['schemas']['SessionType'];
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description Your own identifier for the card. Required for `card_switcher`.
       * @example card-81
       */
      card_id?: string | null;
      /**
       * Format: email
       * @description Email address of the user.
       * @example ada@example.com
       */
      email?: string | null;
      /**
       * @description Phone number of the user in E.164; a valid US or Canadian number.
       * @example +12125550123
       */
      phone_number?: string | null;
      /**
       * @description Your own values, echoed as `data.metadata` in every webhook of the session. The SDK can add to the metadata when it opens the session.
       * @example {
       *       "order": "4711"
       *     }
       */
      metadata?: {
        [key: string]: string;
      } | null;
    };
    CreateSignInLinkRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id: number;
      /** @description E.164; a valid US or Canadian number. Required for the proof `phone`, and not allowed otherwise: the link is sent there, and to nobody else. */
      phone_number?: string | null;
      /**
       * Format: uri
       * @description Where the browser goes when the user is done, with `link_id` and `status` in the query: an `https` URL at a host that is listed in the settings for agents or, in development, at a loopback address. Do not trust the `status`: get the link.
       */
      return_url?: string | null;
      /**
       * @description Seconds until the link expires. The default is `3600`.
       * @example 3600
       */
      expires_in?: number | null;
      /**
       * @description How the person who opens the link proves to be the user. The default is `partner_login`.
       * @example partner_login
       */
      proof?: components['schemas']['SignInProof'] | null;
      /**
       * @description Your own values, echoed as `data.metadata` in the webhooks of this sign-in.
       * @example {
       *       "order": "4711"
       *     }
       */
      metadata?: {
        [key: string]: string;
      } | null;
    };
    CreateWebhookEndpointRequest: {
      /**
       * @description The environment whose events are sent. Must match the environment of the access token.
       * @example development
       */
      environment: components['schemas']['Environment'];
      /**
       * Format: uri
       * @description A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
       * @example https://hooks.example.com/merchants
       */
      url: string;
      /**
       * @description What you use the endpoint for, in at most 255 characters.
       * @example Card updates
       */
      description?: string | null;
      /**
       * @description Names of the events to send to the endpoint. If absent, all events are sent, including those that are added later.
       * @example [
       *       "AUTHENTICATED",
       *       "CARD_UPDATED"
       *     ]
       */
      events?: components['schemas']['EventName'][] | null;
      /**
       * @description `paused` creates the endpoint without sending anything to it: events wait until you change the status to `enabled`. The default is `enabled`.
       * @example enabled
       */
      status?: components['schemas']['SettableWebhookEndpointStatus'] | null;
      /**
       * @description The key that signs the deliveries, besides `Service-Signature`. With a key of its own, the receiver needs no credential of the API. The default is `client`.
       * @example hmac
       */
      signing?: components['schemas']['WebhookEndpointSigning'] | null;
      /**
       * @description At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them.
       * @example {
       *       "X-Api-Key": "a key of your gateway"
       *     }
       */
      headers?: {
        [key: string]: string;
      } | null;
    };
    CreatedSignInLinkResponse: {
      /**
       * Format: uuid
       * @description ID of the link.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      id: string;
      /** @description The merchant. */
      merchant: components['schemas']['AccountMerchantResponse'];
      /**
       * @description The status of the link.
       * @example failed
       */
      status: components['schemas']['SignInLinkStatus'];
      /**
       * @description Why the link failed; null unless its status is `failed`.
       * @example too_many_attempts
       */
      failure_reason: components['schemas']['SignInFailure'] | null;
      /**
       * @description Who cancelled the link; null unless its status is `cancelled`.
       * @example null
       */
      cancelled_by: components['schemas']['SignInLinkCanceller'] | null;
      /**
       * @description How the person who opens the link proves to be the user.
       * @example partner_login
       */
      proof: components['schemas']['SignInProof'];
      /**
       * @description Who created the link.
       * @example backend
       */
      source: components['schemas']['SignInLinkSource'];
      /**
       * Format: uuid
       * @description ID of the session of a completed link, which its event `AUTHENTICATED` has too; otherwise null.
       * @example null
       */
      session_id: string | null;
      /**
       * Format: date-time
       * @description When the link was created.
       * @example 2026-01-31T08:15:30.123Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the link expires or expired.
       * @example 2026-01-31T08:15:30.123Z
       */
      expires_at: string;
      /**
       * Format: uri
       * @description Send it to the user. It opens nothing without the login of the user. Null if the link was sent to a phone.
       * @example https://agents.example.com/sign-in/0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      url: string | null;
    };
    CurrentTokenResponse: {
      /**
       * Format: uuid
       * @description The client that the token was issued to.
       * @example 19b11f7c-4c8e-49bf-853e-3cea2462349f
       */
      client_id: string;
      /**
       * @description The environment that the token is valid for.
       * @example development
       */
      environment: components['schemas']['Environment'];
      /**
       * @description The scopes of the token.
       * @example [
       *       "request_logs:read"
       *     ]
       */
      scopes: components['schemas']['Scope'][];
    };
    CurrentUserResponse: {
      /**
       * Format: uuid
       * @description ID of the user or the API key.
       * @example 5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11
       */
      id: string;
      /**
       * @description Name of the user or the API key.
       * @example Ada Lovelace
       */
      name: string;
      /**
       * @description Email address of the user; `API key` for an API key.
       * @example ada@example.com
       */
      email: string;
      /**
       * Format: uuid
       * @description ID of the user’s organization.
       * @example 0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60
       */
      organization_id: string;
      /**
       * @description The current role of the user.
       * @example admin
       */
      role: components['schemas']['Role'];
      /** @description The access token or API key; null if the request was authenticated by a dashboard login. */
      token: components['schemas']['CurrentTokenResponse'] | null;
    };
    /**
     * @description `waiting`: for the first attempt or a retry. `in_progress`: an attempt has begun. `succeeded`: the endpoint responded with 200. `failed`: there are no further attempts.
     * @enum {string}
     */
    DeliveryState: 'waiting' | 'in_progress' | 'succeeded' | 'failed';
    DetectAccountsRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description 1 to 100 merchants, by name in any common spelling or by ID.
       * @example [
       *       "DoorDash",
       *       16
       *     ]
       */
      merchants: components['schemas']['MerchantNameOrId'][];
    };
    DetectedAccountResponse: {
      /**
       * @description The name as you sent it.
       * @example door dash
       */
      name: string;
      /**
       * @description Whether an account of the user was detected at this merchant.
       * @example true
       */
      detected: boolean;
      /**
       * Format: date-time
       * @description When the account was detected; null if none was detected.
       * @example 2026-01-31T08:15:30.123Z
       */
      detected_at: string | null;
    };
    /** @description A merchant. */
    DetectedMerchant: {
      /** @description ID of the merchant. */
      id: number;
      /** @description Name of the merchant. */
      name: string;
    };
    DeviceCodeRequest: {
      /**
       * Format: uuid
       * @description The API client that the token is requested for. It also determines the environment.
       * @example 19b11f7c-4c8e-49bf-853e-3cea2462349f
       */
      client_id: string;
      /**
       * @description The requested scopes, separated by spaces: `request_logs:read`, `webhook_endpoints:read`, `webhook_endpoints:write`. Unknown scopes are ignored. The default is all scopes.
       * @example request_logs:read webhook_endpoints:read
       */
      scope?: string;
    };
    DeviceCodeResponse: {
      /**
       * @description The code that the device polls with. Keep it secret.
       * @example 6tWyiEDHh4Dq1rmq0oTgxkFE2Y3nVnBq5h0bX8JrZLk
       */
      device_code: string;
      /**
       * @description The code that the user enters at `verification_uri`.
       * @example WDJB-MJHT
       */
      user_code: string;
      /**
       * Format: uri
       * @description The page where the user approves the device. It is short enough to type.
       * @example https://dashboard.example.com/device
       */
      verification_uri: string;
      /**
       * Format: uri
       * @description The same page with the user code in the URL. Only present if the deployment enables it.
       * @example https://dashboard.example.com/device?user_code=WDJB-MJHT
       */
      verification_uri_complete?: string;
      /**
       * @description Seconds until both codes expire.
       * @example 600
       */
      expires_in: number;
      /**
       * @description Seconds to wait between two polls.
       * @example 5
       */
      interval: number;
    };
    DisconnectAccountRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id: number;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       * @example 1710864923198
       */
      timestamp?: number | null;
      /**
       * Format: uuid
       * @description A session of this user. It must exist, but the event does not name a session.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id?: string | null;
    };
    /**
     * @description The environment. The data of the two environments are separate.
     * @enum {string}
     */
    Environment: 'development' | 'production';
    EraseUserRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
    };
    /**
     * @description The kind of error. More kinds may be added.
     * @enum {string}
     */
    ErrorCode:
      | 'INVALID_API_KEYS'
      | 'INVALID_FIELD'
      | 'INVALID_JWE'
      | 'INVALID_CURSOR_FORMAT'
      | 'USER_NOT_FOUND'
      | 'MERCHANT_ACCOUNT_NOT_FOUND'
      | 'MERCHANT_ACCOUNT_DISCONNECTED'
      | 'SESSION_NOT_FOUND'
      | 'EXTEND_NOT_SUPPORTED'
      | 'MERCHANT_UNAVAILABLE'
      | 'NO_ACCESS'
      | 'TRANSACTION_NOT_FOUND'
      | 'NO_TRANSACTIONS'
      | 'SUBSCRIPTION_NOT_FOUND'
      | 'CANCELLABLE_SUBSCRIPTION_NOT_FOUND'
      | 'MULTIPLE_CANCELLABLE_SUBSCRIPTIONS_FOUND'
      | 'ONGOING_OPERATION'
      | 'CART_NOT_FOUND'
      | 'FULFILLMENT_NOT_FOUND'
      | 'INVALID_ACCESS_TOKEN'
      | 'INSUFFICIENT_SCOPE'
      | 'INSUFFICIENT_ROLE'
      | 'WEBHOOK_ENDPOINT_NOT_FOUND'
      | 'WEBHOOK_ENDPOINT_LIMIT_REACHED'
      | 'WEBHOOK_ENDPOINT_ALREADY_EXISTS'
      | 'RATE_LIMIT_EXCEEDED'
      | 'ENVIRONMENT_MISMATCH'
      | 'REQUEST_LOG_NOT_FOUND'
      | 'REQUEST_LOG_QUERY_TIMEOUT'
      | 'WEBHOOK_ENDPOINT_DISABLED'
      | 'IDEMPOTENCY_KEY_REUSED'
      | 'TOO_MANY_REQUESTS'
      | 'NOT_FOUND'
      | 'METHOD_NOT_ALLOWED'
      | 'PAYLOAD_TOO_LARGE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'INTERNAL_ERROR'
      | 'SERVICE_UNAVAILABLE'
      | 'WEBHOOK_ENDPOINT_KEY_ROTATING'
      | 'EVENT_CURSOR_EXPIRED';
    ErrorResponse: {
      /**
       * @description Category of the error.
       * @example INVALID_REQUEST
       */
      error_type: components['schemas']['ErrorType'];
      /**
       * @description The error. Branch on this value.
       * @example INVALID_FIELD
       */
      error_code: components['schemas']['ErrorCode'];
      /**
       * @description Message for people. The wording may change.
       * @example The external user id field is required.
       */
      error_message: string;
      /**
       * @description Seconds to wait before you retry. Only present for rate-limit errors.
       * @example 12
       */
      retry_after?: number;
      /**
       * @description The `cursor` to continue with. Only present if the cursor of the request is too old.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      oldest_cursor?: string;
    };
    /**
     * @description Category of an error. More categories may be added.
     * @enum {string}
     */
    ErrorType:
      | 'INVALID_INPUT'
      | 'INVALID_REQUEST'
      | 'USER_ERROR'
      | 'SESSION_ERROR'
      | 'MERCHANT_ACCOUNT_ERROR'
      | 'MERCHANT_ERROR'
      | 'SUBSCRIPTION_ERROR'
      | 'TRANSACTION_ERROR'
      | 'CART_ERROR'
      | 'WEBHOOK_ENDPOINT_ERROR'
      | 'REQUEST_LOG_ERROR'
      | 'RATE_LIMIT_ERROR'
      | 'API_ERROR';
    EventDeliveryResponse: {
      /**
       * Format: uuid
       * @description ID of the endpoint, which may have been deleted since.
       * @example b6a1f0de-2f7c-4c6e-9d1f-0e8a4c3b2d10
       */
      endpoint_id: string;
      /**
       * @description How far the delivery is.
       * @example waiting
       */
      state: components['schemas']['DeliveryState'];
      /**
       * @description Number of attempts that have ended.
       * @example 1
       */
      attempts: number;
      /**
       * Format: date-time
       * @description When the last attempt was made; null before it ends.
       * @example 2026-01-31T08:15:30.123Z
       */
      last_attempt_at: string | null;
      /**
       * @description Status code of the last response; 0 if there was no response.
       * @example 503
       */
      status_code: number | null;
      /**
       * @description Why the last attempt failed; null if it did not.
       * @example NON_200
       */
      reason: components['schemas']['FailureReason'] | null;
      /**
       * Format: date-time
       * @description When the next attempt is due; null if none is waiting.
       * @example 2026-01-31T08:18:41.102Z
       */
      next_attempt_at: string | null;
    };
    /**
     * @description The name of an event. More events may be added.
     * @enum {string}
     */
    EventName:
      | 'ACCOUNT_LOGIN_REQUIRED'
      | 'AGENT_CONNECTED'
      | 'AGENT_DISCONNECTED'
      | 'AUTHENTICATED'
      | 'CARD_FAILED'
      | 'CARD_UPDATED'
      | 'MERCHANT_STATUS_UPDATE'
      | 'NEW_DETECTED_ACCOUNTS_AVAILABLE'
      | 'NEW_TRANSACTIONS_AVAILABLE'
      | 'SIGN_IN_LINK_EXPIRED'
      | 'SIGN_IN_LINK_FAILED';
    EventResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      event_id: string;
      /**
       * @description Whether the event had been published before with this key. Then `event_id` is its ID.
       * @example false
       */
      duplicate: boolean;
    };
    EventResult: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header; null if it was not published.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      event_id: string | null;
      /**
       * @description Whether the event had been published before with this key. Then `event_id` is its ID.
       * @example false
       */
      duplicate: boolean;
      /**
       * @description Why the event was not published; null if it was.
       * @example null
       */
      error: components['schemas']['ErrorResponse'] | null;
    };
    EventResultsResponse: {
      /** @description One result for each event, in the same order. */
      results: components['schemas']['EventResult'][];
    };
    EventStatusResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      id: string;
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       * @example 3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d
       */
      client_id: string;
      /**
       * @description The environment of the client.
       * @example production
       */
      environment: components['schemas']['Environment'];
      /**
       * @description The name of the event.
       * @example CARD_UPDATED
       */
      event: components['schemas']['EventName'];
      /**
       * Format: uuid
       * @description The session; null if the event has none.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id: string | null;
      /**
       * Format: int64
       * @description The task; null if the event has none.
       * @example 25605
       */
      task_id: number | null;
      /**
       * @description The user; null if the event has none.
       * @example user-8f3a
       */
      external_user_id: string | null;
      /**
       * Format: date-time
       * @description When the event was published.
       * @example 2026-01-31T08:15:30.123Z
       */
      published_at: string;
      /** @description One delivery for each endpoint that the event is sent to. */
      deliveries: components['schemas']['EventDeliveryResponse'][];
    };
    ExchangeDeviceCodeRequest: {
      /**
       * @description The device code grant.
       * @example urn:ietf:params:oauth:grant-type:device_code
       * @constant
       */
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code';
      /**
       * Format: uuid
       * @description The client that the device code was requested for.
       * @example 19b11f7c-4c8e-49bf-853e-3cea2462349f
       */
      client_id: string;
      /**
       * @description The code from the device-code request.
       * @example 6tWyiEDHh4Dq1rmq0oTgxkFE2Y3nVnBq5h0bX8JrZLk
       */
      device_code: string;
    };
    ExtendSessionRequest: {
      /**
       * Format: uuid
       * @description ID of the session.
       * @example b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21
       */
      session_id: string;
    };
    /**
     * @description Why a delivery attempt failed. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response. More may be added.
     * @enum {string}
     */
    FailureReason:
      | 'TIMEOUT'
      | 'DNS'
      | 'TLS'
      | 'REFUSED'
      | 'RESET'
      | 'NOT_HTTP'
      | 'HEADERS_TOO_LARGE'
      | 'FORBIDDEN_ADDRESS'
      | 'NON_200'
      | 'INTERRUPTED'
      | 'KEY_UNAVAILABLE';
    FindUserErasureQuery: {
      /** @description Your own identifier for the user. */
      external_user_id: string;
    };
    IdentifyDetectedAccountsRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description Names of 1 to 100 merchants or companies, in any common spelling.
       * @example [
       *       "Netflix",
       *       "door dash"
       *     ]
       */
      name: string[];
    };
    IdentifyDetectedAccountsResponse: components['schemas']['DetectedAccountResponse'][];
    IntrospectTokenRequest: {
      /**
       * @description An access token or MCP token.
       * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl
       */
      token: string;
      /**
       * @description A hint about the kind of token. Not required.
       * @example access_token
       */
      token_type_hint?: string;
    };
    IntrospectionResponse: {
      /**
       * @description Whether the token is valid now and was issued to your client. If not, the response has no other fields.
       * @example true
       */
      active: boolean;
      /**
       * @description The kind of token.
       * @example Bearer
       */
      token_type?: components['schemas']['TokenType'];
      /**
       * @description Whom the token acts for: the ID of a dashboard user, or of the API client for a token of an API key, or for an MCP token your own identifier for the user.
       * @example 5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11
       */
      sub?: string;
      /**
       * Format: uuid
       * @description The client that the token was issued to.
       * @example 19b11f7c-4c8e-49bf-853e-3cea2462349f
       */
      client_id?: string;
      /**
       * Format: int64
       * @description When the token was issued, in seconds since the epoch.
       * @example 1769847330
       */
      iat?: number;
      /**
       * Format: int64
       * @description When the token expires, in seconds since the epoch.
       * @example 1769848230
       */
      exp?: number;
      /**
       * @description The environment of the client.
       * @example development
       */
      environment?: components['schemas']['Environment'];
      /**
       * @description The scopes, separated by spaces: of an access token, or of an MCP token that an agent got by logging in.
       * @example request_logs:read webhook_endpoints:read
       */
      scope?: string;
      /**
       * @description Access tokens only: the current role of the user.
       * @example [
       *       "admin"
       *     ]
       */
      roles?: components['schemas']['Role'][];
      /**
       * Format: uuid
       * @description Access tokens only: the ID of the user’s organization.
       * @example 0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60
       */
      org?: string;
      /**
       * Format: uri
       * @description Access tokens only: the issuer.
       * @example https://dashboard.example.com
       */
      iss?: string;
      /**
       * Format: uri
       * @description Access tokens only: the API that the token is for.
       * @example https://dashboard.example.com
       */
      aud?: string;
      /**
       * Format: uuid
       * @description Access tokens only: the ID of the token.
       * @example 7d2f0c4e-9b1a-4f6d-8e3c-5a7b9c1d2e3f
       */
      jti?: string;
      /**
       * @description MCP tokens only: the phone number of the user in E.164, if it was given.
       * @example +12125550123
       */
      phone_number?: string;
    };
    /**
     * @description A job that you can apply for.
     * @enum {string}
     */
    JobRole:
      | 'product_engineer'
      | 'ios_engineer'
      | 'android_engineer'
      | 'infrastructure_engineer'
      | 'senior_product_manager';
    /** @description A JSON Web Key Set: [RFC 7517, section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5). */
    JsonWebKeySet: {
      /** @description The current signing key, the next one, and previous keys whose last tokens have not expired yet. */
      keys: components['schemas']['PublicJwk'][];
    };
    /**
     * @description Algorithm of a key that verifies access tokens.
     * @enum {string}
     */
    KeyAlgorithm: 'ES256' | 'RS256';
    /**
     * @description Type of a key that verifies access tokens.
     * @enum {string}
     */
    KeyType: 'EC' | 'RSA';
    LinkAccountRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id: number;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       * @example 1710864923198
       */
      timestamp?: number | null;
      /**
       * Format: uuid
       * @description A session of this user. The event contains its card and metadata. Without this field, the event names a session that does not exist.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id?: string | null;
    };
    LinkedAccountResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      event_id: string;
      /**
       * Format: int64
       * @description The `task_id` of the event.
       * @example 25605
       */
      task_id: number;
      /**
       * Format: uuid
       * @description The `session_id` of the event.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id: string;
    };
    ListAgentConnectionsQuery: {
      /** @description That of the client, by default. */
      environment?: components['schemas']['Environment'];
      /**
       * @description Only connections of this user.
       * @example user-8f3a
       */
      external_user_id?: string;
      /**
       * @description Only connections of agents with this host.
       * @example agent.example.com
       */
      host?: string;
      /**
       * @description Maximum number of connections in the page.
       * @default 25
       * @example 25
       */
      limit?: number;
      /**
       * @description The `next_cursor` of the previous page, for the same user and host.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      cursor?: string;
    };
    ListAuditLogsQuery: {
      /**
       * Format: date-time
       * @description Only entries created at or after this time.
       * @example 2026-01-01T00:00:00Z
       */
      start?: string;
      /**
       * Format: date-time
       * @description Only entries created at or before this time.
       * @example 2026-01-31T23:59:59Z
       */
      end?: string;
      /**
       * @description Maximum number of entries in the page.
       * @default 100
       * @example 100
       */
      limit?: number;
      /**
       * @description The `next_cursor` of the previous page. Send the same `start` and `end` again.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ
       */
      cursor?: string;
      /**
       * @description Another name for `cursor`.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ
       */
      next_cursor?: string;
    };
    ListMerchantAccountsQuery: {
      /** @description That of the client, by default. */
      environment?: components['schemas']['Environment'];
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /**
       * @description Maximum number of entries in the page.
       * @default 25
       * @example 25
       */
      limit?: number;
      /**
       * @description The `next_cursor` of the previous page, for the same user.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      cursor?: string;
    };
    ListMerchantStatusesResponse: components['schemas']['MerchantStatusResponse'][];
    ListMerchantsQuery: {
      /** @description Each environment has its own hidden merchants. That of the client, by default. */
      environment?: components['schemas']['Environment'];
    };
    ListMerchantsResponse: components['schemas']['MerchantResponse'][];
    ListRequestLogsQuery: {
      /** @description The environment of the log. Must match the environment of the access token. */
      environment: components['schemas']['Environment'];
      /**
       * Format: date-time
       * @description Only entries created at or after this time; at most 7 days before `end`. The default is 24 hours before `end`.
       * @example 2026-01-31T00:00:00Z
       */
      start?: string;
      /**
       * Format: date-time
       * @description Only entries created at or before this time. The default is the current time; for the pages that follow, the time of the first page.
       * @example 2026-01-31T23:59:59Z
       */
      end?: string;
      /** @description `request`: only API requests. `webhook`: only delivery attempts. */
      type?: components['schemas']['RequestLogType'];
      /**
       * Format: uuid
       * @description Only entries of this session.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id?: string;
      /**
       * Format: int64
       * @description Only entries of this task.
       * @example 25605
       */
      task_id?: number;
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id?: string;
      /**
       * @description Only delivery attempts of this event.
       * @example CARD_UPDATED
       */
      event?: string;
      /**
       * @description Only entries with this status code, 100 to 599: of the API’s response, or of your endpoint’s response to a webhook. `0`: only delivery attempts without a response.
       * @example 200
       */
      status_code?: number;
      /** @description Only API requests whose response has this `error_code`. */
      error_code?: components['schemas']['ErrorCode'];
      /**
       * @description Only API requests with this `X-Request-Id`.
       * @example 5f0c1c1e-9f7b-4b0e-8a52-3f6f0f1f2b3c
       */
      request_id?: string;
      /**
       * @description Only API requests that were sent with the API key of this name.
       * @example order-service
       */
      api_key?: string;
      /**
       * Format: uuid
       * @description Only delivery attempts to this webhook endpoint.
       * @example c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11
       */
      endpoint_id?: string;
      /**
       * Format: uuid
       * @description Only delivery attempts for the event with this ID, the `webhook-id` header of its deliveries.
       * @example c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55
       */
      event_id?: string;
      /** @description `success`: only API requests with a status code below 400, and delivery attempts to which your endpoint responded with 200. `failure`: only the others. */
      outcome?: components['schemas']['RequestLogOutcome'];
      /**
       * @description Maximum number of entries in the page. It can differ from page to page.
       * @default 25
       * @example 25
       */
      limit?: number;
      /**
       * @description The `next_cursor` of the previous page. Send the other parameters, including `start` and `end`, unchanged; `limit` can differ.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywxNzY5ODQ3MzMwMTIzLDQyXQ
       */
      cursor?: string;
    };
    ListSignInLinksQuery: {
      /** @description That of the client, by default. */
      environment?: components['schemas']['Environment'];
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /**
       * @description Maximum number of entries in the page.
       * @default 25
       * @example 25
       */
      limit?: number;
      /**
       * @description The `next_cursor` of the previous page, for the same user.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      cursor?: string;
    };
    ListWebhookEndpointsQuery: {
      /** @description The environment whose events are sent. Must match the environment of the access token. */
      environment: components['schemas']['Environment'];
    };
    LoggedDeliveryResponse: {
      /**
       * Format: uuid
       * @description ID of the webhook endpoint, like `endpoint_id` of the entry.
       * @example c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11
       */
      webhook_endpoint_id: string;
      /**
       * Format: uuid
       * @description ID of the event, like `event_id` of the entry.
       * @example c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55
       */
      event_id: string;
      /**
       * @description Number of the attempt, starting at 1.
       * @example 1
       */
      attempt: number;
      /**
       * @description Why the attempt failed, like `reason` of the entry.
       * @example NON_200
       */
      reason: string | null;
      /**
       * @description Milliseconds to resolve the host name; null if the attempt did not reach or did not need this step.
       * @example 7
       */
      dns_ms: number | null;
      /**
       * @description Milliseconds to connect; null if the attempt did not reach or did not need this step.
       * @example 7
       */
      connect_ms: number | null;
      /**
       * @description Milliseconds for the TLS handshake; null if the attempt did not reach or did not need this step.
       * @example 7
       */
      tls_ms: number | null;
      /**
       * @description Milliseconds from the request to the first byte of the response; null if the attempt did not reach or did not need this step.
       * @example 7
       */
      first_byte_ms: number | null;
    };
    McpTokenResponse: {
      /**
       * @description The token. Keep it secret: it is shown only once, and anyone who has it can act for the user.
       * @example mcp_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000
       */
      token: string;
      /**
       * Format: date-time
       * @description When the token expires.
       * @example 2026-01-31T08:15:30.123Z
       */
      expires_at: string;
    };
    MerchantAccountResponse: {
      /** @description The merchant. */
      merchant: components['schemas']['AccountMerchantResponse'];
      /**
       * @description Whether the user must sign in again.
       * @example connected
       */
      state: components['schemas']['MerchantAccountState'];
      /**
       * Format: date-time
       * @description When the user last signed in, or when the account was disconnected.
       * @example 2026-01-31T08:15:30.123Z
       */
      since: string;
      /**
       * Format: uuid
       * @description The session in which the user last signed in; null if it is not known.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id: string | null;
    };
    /**
     * @description `connected`: the user has signed in. `disconnected`: the merchant requires the user to sign in again.
     * @enum {string}
     */
    MerchantAccountState: 'connected' | 'disconnected';
    /** @description ID of a merchant. */
    MerchantId: number;
    /** @description Name of a merchant, in any common spelling. */
    MerchantName: string;
    /** @description A merchant, by name in any common spelling or by ID. */
    MerchantNameOrId: components['schemas']['MerchantName'] | components['schemas']['MerchantId'];
    MerchantResponse: {
      /**
       * @description ID of the merchant.
       * @example 16
       */
      id: number;
      /**
       * @description Name of the merchant.
       * @example Netflix
       */
      name: string;
      /**
       * @description Whether your organization hides the merchant.
       * @example false
       */
      hidden: boolean;
    };
    /**
     * @description Whether sessions of a type work at a merchant.
     * @enum {string}
     */
    MerchantStatus: 'UP' | 'DOWN';
    MerchantStatusResponse: {
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id: number;
      /**
       * @description The type of session.
       * @example card_switcher
       */
      type: components['schemas']['SessionType'];
      /**
       * @description Whether sessions of this type work.
       * @example DOWN
       */
      status: components['schemas']['MerchantStatus'];
      /**
       * @description Number of clients for which the event has been published.
       * @example 118
       */
      published: number;
      /**
       * Format: date-time
       * @description When the status changed.
       * @example 2026-01-31T08:15:30.123Z
       */
      requested_at: string;
      /**
       * Format: date-time
       * @description When the event had been published for all clients; null while that is in progress.
       * @example null
       */
      finished_at: string | null;
    };
    /** @description Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`). */
    MerchantStatusUpdateWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'MERCHANT_STATUS_UPDATE';
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['MerchantStatusUpdateWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    MerchantStatusUpdateWebhookData: {
      /** @description The type of session. */
      type: components['schemas']['SessionType'];
      /** @description Whether sessions of this type work. */
      status: components['schemas']['MerchantStatus'];
    };
    /** @description Accounts of the user were detected at these merchants. Send a request to "Search detected accounts" to check the merchants that you are interested in. */
    NewDetectedAccountsAvailableWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['NewDetectedAccountsAvailableWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    NewDetectedAccountsAvailableWebhookData: {
      /** @description The merchants. */
      detected_accounts: components['schemas']['DetectedMerchant'][];
    };
    /** @description The user has new transactions at the merchant. */
    NewTransactionsAvailableWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'NEW_TRANSACTIONS_AVAILABLE';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description This event has no further fields: an empty object. Fields may be added. */
      data: components['schemas']['NewTransactionsAvailableWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description This event has no further fields: an empty object. Fields may be added. */
    NewTransactionsAvailableWebhookData: Record<string, never>;
    /**
     * @description An error code of OAuth 2.0.
     * @enum {string}
     */
    OAuthErrorCode:
      | 'invalid_request'
      | 'invalid_client'
      | 'invalid_grant'
      | 'unauthorized_client'
      | 'invalid_scope'
      | 'unsupported_grant_type'
      | 'unsupported_response_type'
      | 'invalid_target'
      | 'invalid_redirect_uri'
      | 'invalid_client_metadata'
      | 'authorization_pending'
      | 'slow_down'
      | 'access_denied'
      | 'expired_token'
      | 'server_error'
      | 'temporarily_unavailable';
    OAuthErrorResponse: {
      /**
       * @description Category of the error.
       * @example INVALID_REQUEST
       */
      error_type: components['schemas']['ErrorType'];
      /**
       * @description The error. Branch on this value.
       * @example INVALID_FIELD
       */
      error_code: components['schemas']['ErrorCode'];
      /**
       * @description Message for people. The wording may change.
       * @example The external user id field is required.
       */
      error_message: string;
      /**
       * @description Seconds to wait before you retry. Only present for rate-limit errors.
       * @example 12
       */
      retry_after?: number;
      /**
       * @description The `cursor` to continue with. Only present if the cursor of the request is too old.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      oldest_cursor?: string;
      /**
       * @description The OAuth error code. Standard OAuth clients branch on this value.
       * @example authorization_pending
       */
      error: components['schemas']['OAuthErrorCode'];
      /**
       * @description Message for people, like `error_message`.
       * @example The user has not decided yet. Poll again after the interval.
       */
      error_description: string;
      /**
       * @description Seconds to wait between polls from now on. Only present if a poll came too early.
       * @example 10
       */
      interval?: number;
    };
    OpenSessionRequest: {
      /**
       * Format: uuid
       * @description ID of the session.
       * @example b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21
       */
      session_id: string;
      /**
       * @description Your own values, echoed as `data.metadata` in every webhook of the session. Merged with the metadata of the session: these values override those with the same key, and the limits apply to the result.
       * @example {
       *       "order": "4711"
       *     }
       */
      metadata?: {
        [key: string]: string;
      } | null;
    };
    OpenedSessionResponse: {
      /**
       * Format: uuid
       * @description ID of the session.
       * @example b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21
       */
      session: string;
      /**
       * Format: date-time
       * @description When the session expires.
       * @example 2026-01-31T08:45:30.123Z
       */
      expires_at: string;
    };
    /** @description A public key: [RFC 7517, section 4](https://www.rfc-editor.org/rfc/rfc7517#section-4). EC keys have `crv`, `x` and `y`, RSA keys `n` and `e` ([RFC 7518, section 6](https://www.rfc-editor.org/rfc/rfc7518#section-6)). The header of a token has the `kid` of the key that verifies it. */
    PublicJwk: {
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example 0f6a2c1e-5b7d-4e9f-8a3b-6c1d2e3f4a5b
       */
      kid: string;
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example P-256
       */
      crv?: string;
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU
       */
      x?: string;
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0
       */
      y?: string;
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example sXchDaQebHnPiGvyDOAT4saGEUet
       */
      n?: string;
      /**
       * @description Defined in RFC 7517 and RFC 7518.
       * @example AQAB
       */
      e?: string;
      /**
       * @description Algorithm of the key.
       * @example ES256
       */
      alg: components['schemas']['KeyAlgorithm'];
      /**
       * @description The key verifies signatures.
       * @example sig
       * @constant
       */
      use: 'sig';
      /**
       * @description Type of the key.
       * @example EC
       */
      kty: components['schemas']['KeyType'];
    };
    /** @description The account is disconnected: the user must log in to the merchant again. Start a session for this. */
    PublishAccountLoginRequiredRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'ACCOUNT_LOGIN_REQUIRED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description The fields of `data` that the event requires. Unknown fields are ignored. */
      data?: {
        [key: string]: unknown;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The user has connected an agent, which may act for the user from now on. */
    PublishAgentConnectedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'AGENT_CONNECTED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['AgentConnectedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description A connected agent may no longer act for the user: you, the dashboard, the user or the agent ended the connection, or a token was used twice. */
    PublishAgentDisconnectedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'AGENT_DISCONNECTED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['AgentDisconnectedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The user has logged in to the merchant: the account is linked. `card_id` is null if the session has no card, as after a sign-in link. */
    PublishAuthenticatedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'AUTHENTICATED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /**
       * Format: uuid
       * @description A session of the client and the user. The event contains its metadata.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['AuthenticatedData'];
      /** @description Replaces the metadata of the session. An empty object means none. */
      metadata?: {
        [key: string]: string;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The card could not be saved at the merchant. */
    PublishCardFailedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'CARD_FAILED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /**
       * Format: uuid
       * @description A session of the client and the user. The event contains its metadata.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['CardFailedData'];
      /** @description Replaces the metadata of the session. An empty object means none. */
      metadata?: {
        [key: string]: string;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The merchant now charges the card. */
    PublishCardUpdatedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'CARD_UPDATED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /**
       * Format: uuid
       * @description A session of the client and the user. The event contains its metadata.
       */
      session_id: string;
      /**
       * Format: int64
       * @description The task of the session.
       */
      task_id: number;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['CardUpdatedData'];
      /** @description Replaces the metadata of the session. An empty object means none. */
      metadata?: {
        [key: string]: string;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The body. `event` names its type. */
    PublishEventRequest:
      | components['schemas']['PublishAccountLoginRequiredRequest']
      | components['schemas']['PublishAgentConnectedRequest']
      | components['schemas']['PublishAgentDisconnectedRequest']
      | components['schemas']['PublishAuthenticatedRequest']
      | components['schemas']['PublishCardFailedRequest']
      | components['schemas']['PublishCardUpdatedRequest']
      | components['schemas']['PublishMerchantStatusUpdateRequest']
      | components['schemas']['PublishNewDetectedAccountsAvailableRequest']
      | components['schemas']['PublishNewTransactionsAvailableRequest']
      | components['schemas']['PublishSignInLinkExpiredRequest']
      | components['schemas']['PublishSignInLinkFailedRequest'];
    PublishEventsRequest: {
      /**
       * @description 1 to 1000 events of at most 524288 bytes each.
       * @example [
       *       {
       *         "client_id": "3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d",
       *         "event": "CARD_UPDATED",
       *         "external_user_id": "user-8f3a",
       *         "session_id": "fb5aa994-ed1c-4c3e-b29a-b2a53222e584",
       *         "task_id": 25605,
       *         "merchant_id": 16,
       *         "data": {
       *           "card_id": "81n9al10a0ayn13"
       *         },
       *         "idempotency_key": "task-25605-card-updated"
       *       }
       *     ]
       */
      events: components['schemas']['PublishEventRequest'][];
    };
    /** @description Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`). */
    PublishMerchantStatusUpdateRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'MERCHANT_STATUS_UPDATE';
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['MerchantStatusUpdateWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description Accounts of the user were detected at these merchants. Send a request to "Search detected accounts" to check the merchants that you are interested in. */
    PublishNewDetectedAccountsAvailableRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description Fields that depend on the event. */
      data: components['schemas']['NewDetectedAccountsAvailableWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The user has new transactions at the merchant. */
    PublishNewTransactionsAvailableRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'NEW_TRANSACTIONS_AVAILABLE';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description The fields of `data` that the event requires. Unknown fields are ignored. */
      data?: {
        [key: string]: unknown;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The user did not use a sign-in link in time. The account does not change. */
    PublishSignInLinkExpiredRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'SIGN_IN_LINK_EXPIRED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['SignInLinkExpiredWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    /** @description The user cannot sign in with a sign-in link. The account does not change. Sign-ins that succeed send `AUTHENTICATED`. Links that are cancelled, or that the user declines, send no event. */
    PublishSignInLinkFailedRequest: {
      /**
       * Format: uuid
       * @description The API client whose endpoints receive the event.
       */
      client_id: string;
      /**
       * @description The event. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      event: 'SIGN_IN_LINK_FAILED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description ID of the merchant. */
      merchant_id: number;
      /** @description Fields that depend on the event. */
      data: components['schemas']['SignInLinkFailedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       */
      timestamp?: number | null;
      /** @description Makes retries safe: an event with the same key and content is published once. */
      idempotency_key?: string | null;
    };
    PublishedEventResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      event_id: string;
    };
    QueuedDeliveriesResponse: {
      /**
       * @description Number of deliveries that are sent now; 0 if the event is being sent already.
       * @example 1
       */
      queued: number;
    };
    ReadWebhookEventsQuery: {
      /**
       * @description The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      cursor?: string;
      /**
       * Format: date-time
       * @description Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect together with `cursor`.
       * @example 2026-01-31T08:15:30Z
       */
      start?: string;
      /**
       * @description Maximum number of entries in the page.
       * @default 25
       * @example 25
       */
      limit?: number;
      /**
       * @description Only events with this name. Repeat the parameter for several names.
       * @example [
       *       "CARD_UPDATED"
       *     ]
       */
      event?: components['schemas']['EventName'][];
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id?: string;
      /**
       * @description Seconds that the request waits for the next event if the page would be empty.
       * @default 0
       * @example 20
       */
      wait?: number;
    };
    RecoverRequest: {
      /**
       * Format: date-time
       * @description Start of the period. A time before the oldest entry of the request log counts as that.
       * @example 2026-01-31T08:00:00Z
       */
      since: string;
    };
    RecoveryResponse: {
      /**
       * @description Whether the recovery is running or finished; `none` if there has not been one.
       * @example running
       */
      status: components['schemas']['RecoveryStatus'];
      /**
       * Format: date-time
       * @description Start of the period.
       * @example 2026-01-31T08:00:00.000Z
       */
      since: string | null;
      /**
       * @description Number of deliveries that the recovery has added to the queue.
       * @example 118
       */
      queued: number;
      /**
       * Format: date-time
       * @description When the recovery was requested.
       * @example 2026-01-31T08:15:30.123Z
       */
      requested_at: string | null;
      /**
       * Format: date-time
       * @description When the recovery finished; null while it is running.
       * @example null
       */
      finished_at: string | null;
    };
    /**
     * @description How far a recovery is.
     * @enum {string}
     */
    RecoveryStatus: 'none' | 'running' | 'finished';
    RedeliverRequest: {
      /**
       * Format: uuid
       * @description ID of the event: the `webhook-id` header of its deliveries.
       * @example c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55
       */
      event_id: string;
    };
    RequestLogEntryResponse: {
      /**
       * Format: int64
       * @description ID of the entry.
       * @example 8001234
       */
      id: number;
      /**
       * @description The kind of entry.
       * @example request
       */
      type: components['schemas']['RequestLogType'];
      /**
       * Format: date-time
       * @description When the response was sent or the attempt ended.
       * @example 2026-01-31T08:15:30.123Z
       */
      datetime: string;
      /**
       * @description HTTP method.
       * @example POST
       */
      method: string;
      /**
       * @description Path of the API request; null for a delivery attempt.
       * @example /mcp/tokens/create
       */
      path: string | null;
      /**
       * @description URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API request.
       * @example null
       */
      url: string | null;
      /**
       * @description Name of the webhook event; null for an API request.
       * @example null
       */
      event: string | null;
      /**
       * @description Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response.
       * @example 200
       */
      status_code: number;
      /**
       * @description Milliseconds until the response.
       * @example 12
       */
      latency_ms: number;
      /**
       * Format: uuid
       * @description The session that the entry belongs to; null if there is none.
       * @example null
       */
      session_id: string | null;
      /**
       * Format: int64
       * @description The task that the entry belongs to; null if there is none.
       * @example null
       */
      task_id: number | null;
      /**
       * @description Your identifier for the user that the entry belongs to; null if there is none.
       * @example user-8f3a
       */
      external_user_id: string | null;
      /**
       * @description The tool that an agent called; null for other requests.
       * @example null
       */
      tool: string | null;
      /**
       * @description Name and host of the agent that called the tool, if its user connected it; null for an agent with a token from `POST /mcp/tokens/create`, and for other requests.
       * @example null
       */
      agent: string | null;
      /**
       * @description Name of the API key that the request was sent with; null if it was sent with the secret, and for other entries.
       * @example null
       */
      api_key: string | null;
      /**
       * @description The `error_code` of the response; null if the request succeeded, for a delivery attempt, and for entries from before the service recorded errors.
       * @example null
       */
      error_code: components['schemas']['ErrorCode'] | null;
      /**
       * @description The `error_message` of the response, at most 500 characters; null if the request succeeded, for a delivery attempt, for entries from before the service recorded errors, and after the data of the user was erased.
       * @example null
       */
      error_message: string | null;
      /**
       * @description The `X-Request-Id` of the response; null for a delivery attempt, and for entries from before the service recorded it.
       * @example null
       */
      request_id: string | null;
      /**
       * Format: uuid
       * @description The webhook endpoint that the event was sent to; null for an API request.
       * @example null
       */
      endpoint_id: string | null;
      /**
       * Format: uuid
       * @description ID of the webhook event, the `webhook-id` header of its deliveries; null for an API request.
       * @example null
       */
      event_id: string | null;
      /**
       * @description Why the delivery attempt failed; null if it succeeded, and for an API request. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response: `TIMEOUT`, `DNS`, `TLS`, `REFUSED`, `RESET`, `NOT_HTTP`, `HEADERS_TOO_LARGE`, `FORBIDDEN_ADDRESS`.
       * @example null
       */
      reason: string | null;
    };
    /**
     * @description How an API request or a delivery attempt ended.
     * @enum {string}
     */
    RequestLogOutcome: 'success' | 'failure';
    /**
     * @description `request`: an API request. `webhook`: a delivery attempt.
     * @enum {string}
     */
    RequestLogType: 'request' | 'webhook';
    RevocationResponse: Record<string, never>;
    RevokeTokenRequest: {
      /**
       * @description An access token or MCP token.
       * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl
       */
      token: string;
      /**
       * @description A hint about the kind of token. Not required.
       * @example access_token
       */
      token_type_hint?: string;
      /**
       * Format: uuid
       * @description The client that the token was issued to.
       * @example 19b11f7c-4c8e-49bf-853e-3cea2462349f
       */
      client_id: string;
    };
    /**
     * @description The role of a dashboard user. The first has the most rights.
     * @enum {string}
     */
    Role: 'owner' | 'admin' | 'member' | 'viewer';
    RotateWebhookEndpointKeyRequest: {
      /**
       * @description The kind of the new key. The default is the kind of the current key. An endpoint with `client` has no key to rotate.
       * @example hmac
       */
      signing?: components['schemas']['WebhookEndpointSigning'] | null;
      /**
       * @description Hours for which the previous key signs, too: each delivery has both signatures. 0 ends all earlier keys at once, after a leak. The default is `24`.
       * @example 24
       */
      overlap_hours?: number | null;
    };
    /**
     * @description What an access token or an API key may be used for.
     * @enum {string}
     */
    Scope:
      | 'accounts:read'
      | 'accounts:write'
      | 'agents:read'
      | 'agents:write'
      | 'audit_logs:read'
      | 'detected_accounts:read'
      | 'mcp_tokens:write'
      | 'merchants:read'
      | 'request_logs:read'
      | 'sandbox:write'
      | 'sessions:write'
      | 'sign_in_links:read'
      | 'sign_in_links:write'
      | 'tokens:introspect'
      | 'users:erase'
      | 'users:identify'
      | 'webhook_endpoints:read'
      | 'webhook_endpoints:write'
      | 'webhook_events:read';
    SearchDetectedAccountsRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description Names of 1 to 100 merchants or companies, in any common spelling.
       * @example [
       *       "Netflix",
       *       "door dash"
       *     ]
       */
      names: string[];
    };
    SearchDetectedAccountsResponse: components['schemas']['DetectedAccountResponse'][];
    SessionResponse: {
      /**
       * Format: uuid
       * @description ID of the session.
       * @example b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21
       */
      session: string;
    };
    /**
     * @description The purpose of a session.
     * @enum {string}
     */
    SessionType: 'card_switcher' | 'transaction_link' | 'link' | 'vault';
    SetMerchantStatusRequest: {
      /**
       * @description The type of session.
       * @example card_switcher
       */
      type: components['schemas']['SessionType'];
      /**
       * @description Whether sessions of this type work.
       * @example DOWN
       */
      status: components['schemas']['MerchantStatus'];
    };
    /**
     * @description The statuses that you can give a webhook endpoint.
     * @enum {string}
     */
    SettableWebhookEndpointStatus: 'enabled' | 'paused';
    /**
     * @description `not_sent`: the text message could not be sent. `denied`: the merchant does not let the user sign in, for example because the account is locked. `too_many_attempts`: the merchant rejected the credentials or codes too many times.
     * @enum {string}
     */
    SignInFailure: 'not_sent' | 'denied' | 'too_many_attempts';
    /**
     * @description Who cancelled a sign-in link. `other_link`: the user signed in with another link. `revocation`: the agent may no longer act for the user.
     * @enum {string}
     */
    SignInLinkCanceller: 'user' | 'agent' | 'backend' | 'dashboard' | 'other_link' | 'revocation';
    /** @description The user did not use a sign-in link in time. The account does not change. */
    SignInLinkExpiredWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'SIGN_IN_LINK_EXPIRED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['SignInLinkExpiredWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    SignInLinkExpiredWebhookData: {
      /** @description ID of the sign-in link. */
      sign_in_link_id: string;
      /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
      metadata?: components['schemas']['WebhookMetadata'];
    };
    /** @description The user cannot sign in with a sign-in link. The account does not change. Sign-ins that succeed send `AUTHENTICATED`. Links that are cancelled, or that the user declines, send no event. */
    SignInLinkFailedWebhook: {
      /**
       * @description The name of the event.
       * @constant
       */
      event: 'SIGN_IN_LINK_FAILED';
      /** @description Your own identifier for the user. */
      external_user_id: string;
      /** @description The merchant that the event is about. */
      merchant: components['schemas']['WebhookMerchant'];
      /** @description Fields that depend on the event. */
      data: components['schemas']['SignInLinkFailedWebhookData'];
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch.
       */
      timestamp: number;
    };
    /** @description Fields that depend on the event. */
    SignInLinkFailedWebhookData: {
      /** @description ID of the sign-in link. */
      sign_in_link_id: string;
      /** @description Why the link failed. */
      reason: components['schemas']['SignInFailure'];
      /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
      metadata?: components['schemas']['WebhookMetadata'];
    };
    SignInLinkResponse: {
      /**
       * Format: uuid
       * @description ID of the link.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      id: string;
      /** @description The merchant. */
      merchant: components['schemas']['AccountMerchantResponse'];
      /**
       * @description The status of the link.
       * @example failed
       */
      status: components['schemas']['SignInLinkStatus'];
      /**
       * @description Why the link failed; null unless its status is `failed`.
       * @example too_many_attempts
       */
      failure_reason: components['schemas']['SignInFailure'] | null;
      /**
       * @description Who cancelled the link; null unless its status is `cancelled`.
       * @example null
       */
      cancelled_by: components['schemas']['SignInLinkCanceller'] | null;
      /**
       * @description How the person who opens the link proves to be the user.
       * @example partner_login
       */
      proof: components['schemas']['SignInProof'];
      /**
       * @description Who created the link.
       * @example backend
       */
      source: components['schemas']['SignInLinkSource'];
      /**
       * Format: uuid
       * @description ID of the session of a completed link, which its event `AUTHENTICATED` has too; otherwise null.
       * @example null
       */
      session_id: string | null;
      /**
       * Format: date-time
       * @description When the link was created.
       * @example 2026-01-31T08:15:30.123Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the link expires or expired.
       * @example 2026-01-31T08:15:30.123Z
       */
      expires_at: string;
    };
    /**
     * @description Who created a sign-in link: an agent, your backend, or a user of the dashboard.
     * @enum {string}
     */
    SignInLinkSource: 'agent' | 'backend' | 'dashboard';
    /**
     * @description The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`.
     * @enum {string}
     */
    SignInLinkStatus: 'pending' | 'completed' | 'failed' | 'expired' | 'cancelled';
    /**
     * @description How the user proves who they are. `partner_login`: they log in on your login page. `phone`: the link was sent to their phone.
     * @enum {string}
     */
    SignInProof: 'partner_login' | 'phone';
    SingleRequestLogEntryResponse: {
      /**
       * Format: int64
       * @description ID of the entry.
       * @example 8001234
       */
      id: number;
      /**
       * @description The kind of entry.
       * @example request
       */
      type: components['schemas']['RequestLogType'];
      /**
       * Format: date-time
       * @description When the response was sent or the attempt ended.
       * @example 2026-01-31T08:15:30.123Z
       */
      datetime: string;
      /**
       * @description HTTP method.
       * @example POST
       */
      method: string;
      /**
       * @description Path of the API request; null for a delivery attempt.
       * @example /mcp/tokens/create
       */
      path: string | null;
      /**
       * @description URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API request.
       * @example null
       */
      url: string | null;
      /**
       * @description Name of the webhook event; null for an API request.
       * @example null
       */
      event: string | null;
      /**
       * @description Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response.
       * @example 200
       */
      status_code: number;
      /**
       * @description Milliseconds until the response.
       * @example 12
       */
      latency_ms: number;
      /**
       * Format: uuid
       * @description The session that the entry belongs to; null if there is none.
       * @example null
       */
      session_id: string | null;
      /**
       * Format: int64
       * @description The task that the entry belongs to; null if there is none.
       * @example null
       */
      task_id: number | null;
      /**
       * @description Your identifier for the user that the entry belongs to; null if there is none.
       * @example user-8f3a
       */
      external_user_id: string | null;
      /**
       * @description The tool that an agent called; null for other requests.
       * @example null
       */
      tool: string | null;
      /**
       * @description Name and host of the agent that called the tool, if its user connected it; null for an agent with a token from `POST /mcp/tokens/create`, and for other requests.
       * @example null
       */
      agent: string | null;
      /**
       * @description Name of the API key that the request was sent with; null if it was sent with the secret, and for other entries.
       * @example null
       */
      api_key: string | null;
      /**
       * @description The `error_code` of the response; null if the request succeeded, for a delivery attempt, and for entries from before the service recorded errors.
       * @example null
       */
      error_code: components['schemas']['ErrorCode'] | null;
      /**
       * @description The `error_message` of the response, at most 500 characters; null if the request succeeded, for a delivery attempt, for entries from before the service recorded errors, and after the data of the user was erased.
       * @example null
       */
      error_message: string | null;
      /**
       * @description The `X-Request-Id` of the response; null for a delivery attempt, and for entries from before the service recorded it.
       * @example null
       */
      request_id: string | null;
      /**
       * Format: uuid
       * @description The webhook endpoint that the event was sent to; null for an API request.
       * @example null
       */
      endpoint_id: string | null;
      /**
       * Format: uuid
       * @description ID of the webhook event, the `webhook-id` header of its deliveries; null for an API request.
       * @example null
       */
      event_id: string | null;
      /**
       * @description Why the delivery attempt failed; null if it succeeded, and for an API request. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there was no response: `TIMEOUT`, `DNS`, `TLS`, `REFUSED`, `RESET`, `NOT_HTTP`, `HEADERS_TOO_LARGE`, `FORBIDDEN_ADDRESS`.
       * @example null
       */
      reason: string | null;
      /**
       * @description Details of a delivery attempt; null for an API request.
       * @example null
       */
      delivery: components['schemas']['LoggedDeliveryResponse'] | null;
      /**
       * @description Version of the secret that the request was sent with; null if it was sent with an API key or a token, if the credentials were refused, and for a delivery attempt.
       * @example null
       */
      secret_version: number | null;
      /**
       * @description IP address that sent the request; null for a delivery attempt, for entries from before the service recorded it, and after the data of the user was erased.
       * @example null
       */
      ip_address: string | null;
      /**
       * @description The `User-Agent` of the request, at most 512 characters; null if it had none, and otherwise like `ip_address`.
       * @example null
       */
      user_agent: string | null;
      /**
       * @description The beginning of your endpoint’s response, if its status was not 200 and the body was text: at most 2 KiB, with `[REDACTED]` in place of anything that looks like a secret. Null otherwise, and for an API request.
       * @example null
       */
      response_body: string | null;
    };
    StreamWebhooksResponse: string;
    SubmitApplicationRequest: {
      /**
       * @description The job to apply for.
       * @example product_engineer
       */
      role: components['schemas']['JobRole'];
      /**
       * @description Full legal name.
       * @example Ada Lovelace
       */
      full_name: string;
      /**
       * Format: email
       * @description Email address.
       * @example ada@example.com
       */
      email: string;
      /**
       * Format: uri
       * @description Public URL of the résumé as a PDF. Share links of cloud drives are accepted.
       * @example https://example.com/ada.pdf
       */
      resume_url: string;
      /**
       * @description Years of experience.
       * @example 7
       */
      years_experience: number;
      /**
       * @description Whether you are authorized to work in the United States.
       * @example true
       */
      authorized_to_work: boolean;
      /**
       * @description Whether you are willing to work on site in the New York office five days a week.
       * @example true
       */
      onsite_nyc: boolean;
      /**
       * @description Phone number with country code (E.164), of any country.
       * @example +442071838750
       */
      phone_number?: string | null;
      /**
       * Format: uri
       * @description GitHub profile. This field or `linkedin_url` is required.
       * @example https://github.com/ada
       */
      github_url?: string | null;
      /**
       * Format: uri
       * @description LinkedIn profile. This field or `github_url` is required.
       * @example https://www.linkedin.com/in/ada
       */
      linkedin_url?: string | null;
      /**
       * Format: uri
       * @description Twitter profile.
       * @example https://twitter.com/ada
       */
      twitter_url?: string | null;
      /**
       * Format: uri
       * @description Personal website.
       * @example https://ada.example.com
       */
      website?: string | null;
      /**
       * @description One thing you are exceptional at, in your own words.
       * @example Analytical engines.
       */
      exceptional_at: string;
    };
    TestWebhookEndpointRequest: {
      /**
       * @description The kind of event to send. Its fields are those of the example. The default is `AUTHENTICATED`.
       * @example AUTHENTICATED
       */
      event?: components['schemas']['EventName'] | null;
    };
    TestedWebhookEndpointResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55
       */
      event_id: string;
      /**
       * @description Whether the event counts as received: the endpoint responded with 200 in time.
       * @example false
       */
      received: boolean;
      /**
       * @description Status code of the endpoint’s response; 0 if there was no response.
       * @example 204
       */
      status_code: number;
      /**
       * @description Why the event does not count as received; null if it does.
       * @example NON_200
       */
      reason: components['schemas']['FailureReason'] | null;
      /**
       * @description The result in words. The wording may change.
       * @example The endpoint responded with 204. Only 200 counts: a real event would be sent twice more.
       */
      message: string;
      /**
       * @description Duration of the attempt in milliseconds.
       * @example 84
       */
      latency_ms: number;
    };
    /**
     * @description `Bearer`: an access token of the dashboard API. `mcp`: an MCP token.
     * @enum {string}
     */
    TokenType: 'Bearer' | 'mcp';
    TriggerWebhookRequest: {
      /**
       * @description The event to send.
       * @example CARD_UPDATED
       */
      event: components['schemas']['EventName'];
      /**
       * Format: uuid
       * @description One of your sessions. The event contains its user and metadata.
       * @example fb5aa994-ed1c-4c3e-b29a-b2a53222e584
       */
      session_id?: string | null;
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id?: string | null;
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id?: number | null;
      /**
       * @description Fields of `data`. Fields that you omit have the values of the event’s example.
       * @example {
       *       "card_id": "my-card"
       *     }
       */
      data?: {
        [key: string]: unknown;
      } | null;
      /**
       * @description For events of a session. An empty object means none.
       * @example {
       *       "order": "4711"
       *     }
       */
      metadata?: {
        [key: string]: string;
      } | null;
      /**
       * Format: int64
       * @description When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
       * @example 1710864923198
       */
      timestamp?: number | null;
    };
    TriggeredWebhookResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      event_id: string;
      /**
       * Format: int64
       * @description The `task_id` of the event; null if the event has none.
       * @example 25605
       */
      task_id: number | null;
    };
    UnlinkAccountRequest: {
      /**
       * @description Your own identifier for the user.
       * @example user-8f3a
       */
      external_user_id: string;
      /**
       * @description ID of the merchant.
       * @example 16
       */
      merchant_id: number;
    };
    UpdateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
       * @example https://hooks.example.com/merchants
       */
      url?: string | null;
      /**
       * @description What you use the endpoint for, in at most 255 characters. `null` or blank text removes it.
       * @example Card updates
       */
      description?: string | null;
      /**
       * @description Names of the events to send to the endpoint. `null`: all events, including those that are added later. Applies to events that are published from now on.
       * @example [
       *       "AUTHENTICATED",
       *       "CARD_UPDATED"
       *     ]
       */
      events?: components['schemas']['EventName'][] | null;
      /**
       * @description `paused`: events wait, and nothing is sent until you change the status to `enabled`. `enabled` also ends the status `disabled`.
       * @example enabled
       */
      status?: components['schemas']['SettableWebhookEndpointStatus'] | null;
      /**
       * @description The key that signs the deliveries. A change makes a new key; the previous one also signs for 24 more hours. The present value changes nothing.
       * @example hmac
       */
      signing?: components['schemas']['WebhookEndpointSigning'] | null;
      /**
       * @description At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them. Headers that you leave out keep their values, unless the host or port of the URL changes: a new receiver gets only headers from the same request. `null` removes a header, or all of them.
       * @example {
       *       "X-Api-Key": "a key of your gateway"
       *     }
       */
      headers?: {
        [key: string]: string | null;
      } | null;
    };
    UserErasureResponse: {
      /**
       * @description Whether everything is erased.
       * @example running
       */
      status: components['schemas']['UserErasureStatus'];
      /**
       * Format: int64
       * @description Number of records that were erased, or that no longer name the user.
       * @example 12
       */
      erased: number;
      /**
       * Format: date-time
       * @description When the erasure was last requested.
       * @example 2026-01-31T08:15:30.123Z
       */
      requested_at: string;
      /**
       * Format: date-time
       * @description When the erasure was finished; null while it is running.
       * @example 2026-01-31T08:15:30.123Z
       */
      finished_at: string | null;
    };
    /**
     * @description Whether the erasure is still running.
     * @enum {string}
     */
    UserErasureStatus: 'running' | 'finished';
    /**
     * @description Why the service has disabled a webhook endpoint. `failing`: all attempts failed for days. More may be added.
     * @enum {string}
     */
    WebhookEndpointDisabledReason: 'failing';
    /** @description How deliveries to a webhook endpoint went recently. */
    WebhookEndpointHealth: {
      /**
       * Format: date-time
       * @description When the endpoint last responded with 200; null if it never did.
       * @example 2026-01-31T08:15:30.123Z
       */
      last_success_at: string | null;
      /**
       * @description Number of attempts that failed since the last success.
       * @example 0
       */
      consecutive_failures: number;
      /**
       * @description Whether the endpoint gets one attempt per second, because 5 attempts in a row failed. The next success ends that.
       * @example false
       */
      throttled: boolean;
      /**
       * @description Why the service disabled the endpoint; null unless `status` is `disabled`.
       * @example null
       */
      disabled_reason: components['schemas']['WebhookEndpointDisabledReason'] | null;
    };
    WebhookEndpointListResponse: {
      /** @description The endpoints, in the order in which they were created. */
      data: components['schemas']['WebhookEndpointResponse'][];
    };
    WebhookEndpointResponse: {
      /**
       * Format: uuid
       * @description ID of the endpoint.
       * @example c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11
       */
      id: string;
      /**
       * Format: uri
       * @description The URL that webhooks are sent to, in the normal form of the URL Standard.
       * @example https://hooks.example.com/merchants
       */
      url: string;
      /**
       * @description What you use the endpoint for; null if you did not describe it.
       * @example Card updates
       */
      description: string | null;
      /**
       * @description The environment whose events are sent.
       * @example production
       */
      environment: components['schemas']['Environment'];
      /**
       * Format: date-time
       * @description When the endpoint was created.
       * @example 2026-01-31T08:15:30.123Z
       */
      created_at: string;
      /**
       * @description Names of the events that are sent to the endpoint; null for all events, including those that are added later.
       * @example [
       *       "AUTHENTICATED",
       *       "CARD_UPDATED"
       *     ]
       */
      events: components['schemas']['EventName'][] | null;
      /**
       * @description `enabled`: events are sent to the endpoint. `paused`: they wait until it is enabled, at most as long as the request log is kept. `disabled`: the service has disabled the endpoint because it kept failing. It gets no events until you enable it, and you can resend those that it missed.
       * @example enabled
       */
      status: components['schemas']['WebhookEndpointStatus'];
      /** @description How deliveries to the endpoint went recently. */
      health: components['schemas']['WebhookEndpointHealth'];
      /**
       * @description What makes the header `webhook-signature`. More may be added.
       * @example hmac
       */
      signing: components['schemas']['WebhookEndpointSigning'];
      /**
       * @description The key that verifies `webhook-signature`, if `signing` is `ed25519`; null otherwise. It is not secret.
       * @example null
       */
      public_key: string | null;
      /**
       * Format: date-time
       * @description During a rotation, the time until which the previous key also signs; null if only the newest signs.
       * @example null
       */
      previous_key_expires_at: string | null;
      /**
       * @description Names of your own headers. Their values are not returned.
       * @example [
       *       "X-Api-Key"
       *     ]
       */
      header_names: string[];
      /**
       * @description The secret of the new key. Only in the response that makes a key of the kind `hmac`: store it in your receiver.
       * @example whsec_x9Vb1Yk3n8mJrT5pQ2wL7cZ4dG6hF0sA1eR9uI3oK2M=
       */
      signing_key?: string;
    };
    /**
     * @description What makes the header `webhook-signature` of the deliveries to a webhook endpoint. `client`: the secret of the API client. `hmac`: a secret that only this endpoint has. `ed25519`: a private key that never leaves the service.
     * @enum {string}
     */
    WebhookEndpointSigning: 'client' | 'hmac' | 'ed25519';
    /**
     * @description Whether events are sent to a webhook endpoint. More may be added.
     * @enum {string}
     */
    WebhookEndpointStatus: 'enabled' | 'paused' | 'disabled';
    /** @description The body of a webhook. The field `event` tells the events apart. */
    WebhookEvent:
      | components['schemas']['AccountLoginRequiredWebhook']
      | components['schemas']['AgentConnectedWebhook']
      | components['schemas']['AgentDisconnectedWebhook']
      | components['schemas']['AuthenticatedWebhook']
      | components['schemas']['CardFailedWebhook']
      | components['schemas']['CardUpdatedWebhook']
      | components['schemas']['MerchantStatusUpdateWebhook']
      | components['schemas']['NewDetectedAccountsAvailableWebhook']
      | components['schemas']['NewTransactionsAvailableWebhook']
      | components['schemas']['SignInLinkExpiredWebhook']
      | components['schemas']['SignInLinkFailedWebhook'];
    WebhookEventListResponse: {
      /** @description The events, in the order in which they were published. */
      data: components['schemas']['WebhookEventResponse'][];
      /**
       * @description Send this value as `cursor` to continue. It is also present at the end.
       * @example AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd
       */
      next_cursor: string;
      /**
       * @description Whether there may be more events now. If not, read again later, or send `wait`.
       * @example false
       */
      has_more: boolean;
      /**
       * @description Whether events wait for an earlier publication that has not ended: read again soon. Then they come in the right order.
       * @example false
       */
      delayed: boolean;
    };
    WebhookEventResponse: {
      /**
       * Format: uuid
       * @description ID of the event: its `webhook-id` header.
       * @example 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
       */
      id: string;
      /**
       * @description The name of the event.
       * @example MERCHANT_STATUS_UPDATE
       */
      event: components['schemas']['EventName'];
      /**
       * Format: date-time
       * @description When the event was published, by the clock of the process that published it. It can be up to a minute earlier than that of an event before it.
       * @example 2026-01-31T08:15:30.123Z
       */
      created_at: string;
      /**
       * @description The body of the webhook, exactly as endpoints receive it. Missing if the user was erased.
       * @example {"event":"MERCHANT_STATUS_UPDATE","merchant":{"id":16,"name":"Netflix"},"data":{"type":"link","status":"UP"},"timestamp":1769847330123}
       */
      body?: string;
      /**
       * @description Present and true if the user of the event was erased, and the body with the user.
       * @example true
       */
      erased?: boolean;
    };
    /** @description The merchant that the event is about. */
    WebhookMerchant: {
      /** @description The merchant’s id, which never changes. */
      id: number;
      /** @description The merchant’s name. */
      name: string;
    };
    /** @description Metadata of the session or of the sign-in link; absent if none was attached. */
    WebhookMetadata: {
      [key: string]: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type AccessTokenResponse = components['schemas']['AccessTokenResponse'];
export type AccountLoginRequiredWebhook = components['schemas']['AccountLoginRequiredWebhook'];
export type AccountLoginRequiredWebhookData = components['schemas']['AccountLoginRequiredWebhookData'];
export type AccountMerchantResponse = components['schemas']['AccountMerchantResponse'];
export type AgentConnectedWebhook = components['schemas']['AgentConnectedWebhook'];
export type AgentConnectedWebhookData = components['schemas']['AgentConnectedWebhookData'];
export type AgentConnectionResponse = components['schemas']['AgentConnectionResponse'];
export type AgentDisconnectedWebhook = components['schemas']['AgentDisconnectedWebhook'];
export type AgentDisconnectedWebhookData = components['schemas']['AgentDisconnectedWebhookData'];
export type AgentScope = components['schemas']['AgentScope'];
export type AgentUserRequest = components['schemas']['AgentUserRequest'];
export type ApplicationReceipt = components['schemas']['ApplicationReceipt'];
export type AuditAction = components['schemas']['AuditAction'];
export type AuditActorResponse = components['schemas']['AuditActorResponse'];
export type AuditChangeResponse = components['schemas']['AuditChangeResponse'];
export type AuditContextResponse = components['schemas']['AuditContextResponse'];
export type AuditEventResponse = components['schemas']['AuditEventResponse'];
export type AuditLogEntryResponse = components['schemas']['AuditLogEntryResponse'];
export type AuditOutcome = components['schemas']['AuditOutcome'];
export type AuditOutcomeResponse = components['schemas']['AuditOutcomeResponse'];
export type AuditTargetResponse = components['schemas']['AuditTargetResponse'];
export type AuthenticatedData = components['schemas']['AuthenticatedData'];
export type AuthenticatedWebhook = components['schemas']['AuthenticatedWebhook'];
export type AuthenticatedWebhookData = components['schemas']['AuthenticatedWebhookData'];
export type AuthorizationServerMetadata = components['schemas']['AuthorizationServerMetadata'];
export type CardFailedData = components['schemas']['CardFailedData'];
export type CardFailedWebhook = components['schemas']['CardFailedWebhook'];
export type CardFailedWebhookData = components['schemas']['CardFailedWebhookData'];
export type CardUpdatedData = components['schemas']['CardUpdatedData'];
export type CardUpdatedWebhook = components['schemas']['CardUpdatedWebhook'];
export type CardUpdatedWebhookData = components['schemas']['CardUpdatedWebhookData'];
export type CompletedAuthorizationResponse = components['schemas']['CompletedAuthorizationResponse'];
export type ConnectedAgent = components['schemas']['ConnectedAgent'];
export type ConnectedAgentResponse = components['schemas']['ConnectedAgentResponse'];
export type ConnectionCodeResponse = components['schemas']['ConnectionCodeResponse'];
export type CreateDetectionRequest = components['schemas']['CreateDetectionRequest'];
export type CreateMcpTokenRequest = components['schemas']['CreateMcpTokenRequest'];
export type CreateSessionRequest = components['schemas']['CreateSessionRequest'];
export type CreateSignInLinkRequest = components['schemas']['CreateSignInLinkRequest'];
export type CreateWebhookEndpointRequest = components['schemas']['CreateWebhookEndpointRequest'];
export type CreatedSignInLinkResponse = components['schemas']['CreatedSignInLinkResponse'];
export type CurrentTokenResponse = components['schemas']['CurrentTokenResponse'];
export type CurrentUserResponse = components['schemas']['CurrentUserResponse'];
export type DeliveryState = components['schemas']['DeliveryState'];
export type DetectAccountsRequest = components['schemas']['DetectAccountsRequest'];
export type DetectedAccountResponse = components['schemas']['DetectedAccountResponse'];
export type DetectedMerchant = components['schemas']['DetectedMerchant'];
export type DeviceCodeRequest = components['schemas']['DeviceCodeRequest'];
export type DeviceCodeResponse = components['schemas']['DeviceCodeResponse'];
export type DisconnectAccountRequest = components['schemas']['DisconnectAccountRequest'];
export type Environment = components['schemas']['Environment'];
export type EraseUserRequest = components['schemas']['EraseUserRequest'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type ErrorResponse = components['schemas']['ErrorResponse'];
export type ErrorType = components['schemas']['ErrorType'];
export type EventDeliveryResponse = components['schemas']['EventDeliveryResponse'];
export type EventName = components['schemas']['EventName'];
export type EventResponse = components['schemas']['EventResponse'];
export type EventResult = components['schemas']['EventResult'];
export type EventResultsResponse = components['schemas']['EventResultsResponse'];
export type EventStatusResponse = components['schemas']['EventStatusResponse'];
export type ExchangeDeviceCodeRequest = components['schemas']['ExchangeDeviceCodeRequest'];
export type ExtendSessionRequest = components['schemas']['ExtendSessionRequest'];
export type FailureReason = components['schemas']['FailureReason'];
export type FindUserErasureQuery = components['schemas']['FindUserErasureQuery'];
export type IdentifyDetectedAccountsRequest = components['schemas']['IdentifyDetectedAccountsRequest'];
export type IdentifyDetectedAccountsResponse = components['schemas']['IdentifyDetectedAccountsResponse'];
export type IntrospectTokenRequest = components['schemas']['IntrospectTokenRequest'];
export type IntrospectionResponse = components['schemas']['IntrospectionResponse'];
export type JobRole = components['schemas']['JobRole'];
export type JsonWebKeySet = components['schemas']['JsonWebKeySet'];
export type KeyAlgorithm = components['schemas']['KeyAlgorithm'];
export type KeyType = components['schemas']['KeyType'];
export type LinkAccountRequest = components['schemas']['LinkAccountRequest'];
export type LinkedAccountResponse = components['schemas']['LinkedAccountResponse'];
export type ListAgentConnectionsQuery = components['schemas']['ListAgentConnectionsQuery'];
export type ListAuditLogsQuery = components['schemas']['ListAuditLogsQuery'];
export type ListMerchantAccountsQuery = components['schemas']['ListMerchantAccountsQuery'];
export type ListMerchantStatusesResponse = components['schemas']['ListMerchantStatusesResponse'];
export type ListMerchantsQuery = components['schemas']['ListMerchantsQuery'];
export type ListMerchantsResponse = components['schemas']['ListMerchantsResponse'];
export type ListRequestLogsQuery = components['schemas']['ListRequestLogsQuery'];
export type ListSignInLinksQuery = components['schemas']['ListSignInLinksQuery'];
export type ListWebhookEndpointsQuery = components['schemas']['ListWebhookEndpointsQuery'];
export type LoggedDeliveryResponse = components['schemas']['LoggedDeliveryResponse'];
export type McpTokenResponse = components['schemas']['McpTokenResponse'];
export type MerchantAccountResponse = components['schemas']['MerchantAccountResponse'];
export type MerchantAccountState = components['schemas']['MerchantAccountState'];
export type MerchantId = components['schemas']['MerchantId'];
export type MerchantName = components['schemas']['MerchantName'];
export type MerchantNameOrId = components['schemas']['MerchantNameOrId'];
export type MerchantResponse = components['schemas']['MerchantResponse'];
export type MerchantStatus = components['schemas']['MerchantStatus'];
export type MerchantStatusResponse = components['schemas']['MerchantStatusResponse'];
export type MerchantStatusUpdateWebhook = components['schemas']['MerchantStatusUpdateWebhook'];
export type MerchantStatusUpdateWebhookData = components['schemas']['MerchantStatusUpdateWebhookData'];
export type NewDetectedAccountsAvailableWebhook =
  components['schemas']['NewDetectedAccountsAvailableWebhook'];
export type NewDetectedAccountsAvailableWebhookData =
  components['schemas']['NewDetectedAccountsAvailableWebhookData'];
export type NewTransactionsAvailableWebhook = components['schemas']['NewTransactionsAvailableWebhook'];
export type NewTransactionsAvailableWebhookData =
  components['schemas']['NewTransactionsAvailableWebhookData'];
export type OAuthErrorCode = components['schemas']['OAuthErrorCode'];
export type OAuthErrorResponse = components['schemas']['OAuthErrorResponse'];
export type OpenSessionRequest = components['schemas']['OpenSessionRequest'];
export type OpenedSessionResponse = components['schemas']['OpenedSessionResponse'];
export type PublicJwk = components['schemas']['PublicJwk'];
export type PublishAccountLoginRequiredRequest = components['schemas']['PublishAccountLoginRequiredRequest'];
export type PublishAgentConnectedRequest = components['schemas']['PublishAgentConnectedRequest'];
export type PublishAgentDisconnectedRequest = components['schemas']['PublishAgentDisconnectedRequest'];
export type PublishAuthenticatedRequest = components['schemas']['PublishAuthenticatedRequest'];
export type PublishCardFailedRequest = components['schemas']['PublishCardFailedRequest'];
export type PublishCardUpdatedRequest = components['schemas']['PublishCardUpdatedRequest'];
export type PublishEventRequest = components['schemas']['PublishEventRequest'];
export type PublishEventsRequest = components['schemas']['PublishEventsRequest'];
export type PublishMerchantStatusUpdateRequest = components['schemas']['PublishMerchantStatusUpdateRequest'];
export type PublishNewDetectedAccountsAvailableRequest =
  components['schemas']['PublishNewDetectedAccountsAvailableRequest'];
export type PublishNewTransactionsAvailableRequest =
  components['schemas']['PublishNewTransactionsAvailableRequest'];
export type PublishSignInLinkExpiredRequest = components['schemas']['PublishSignInLinkExpiredRequest'];
export type PublishSignInLinkFailedRequest = components['schemas']['PublishSignInLinkFailedRequest'];
export type PublishedEventResponse = components['schemas']['PublishedEventResponse'];
export type QueuedDeliveriesResponse = components['schemas']['QueuedDeliveriesResponse'];
export type ReadWebhookEventsQuery = components['schemas']['ReadWebhookEventsQuery'];
export type RecoverRequest = components['schemas']['RecoverRequest'];
export type RecoveryResponse = components['schemas']['RecoveryResponse'];
export type RecoveryStatus = components['schemas']['RecoveryStatus'];
export type RedeliverRequest = components['schemas']['RedeliverRequest'];
export type RequestLogEntryResponse = components['schemas']['RequestLogEntryResponse'];
export type RequestLogOutcome = components['schemas']['RequestLogOutcome'];
export type RequestLogType = components['schemas']['RequestLogType'];
export type RevocationResponse = components['schemas']['RevocationResponse'];
export type RevokeTokenRequest = components['schemas']['RevokeTokenRequest'];
export type Role = components['schemas']['Role'];
export type RotateWebhookEndpointKeyRequest = components['schemas']['RotateWebhookEndpointKeyRequest'];
export type Scope = components['schemas']['Scope'];
export type SearchDetectedAccountsRequest = components['schemas']['SearchDetectedAccountsRequest'];
export type SearchDetectedAccountsResponse = components['schemas']['SearchDetectedAccountsResponse'];
export type SessionResponse = components['schemas']['SessionResponse'];
export type SessionType = components['schemas']['SessionType'];
export type SetMerchantStatusRequest = components['schemas']['SetMerchantStatusRequest'];
export type SettableWebhookEndpointStatus = components['schemas']['SettableWebhookEndpointStatus'];
export type SignInFailure = components['schemas']['SignInFailure'];
export type SignInLinkCanceller = components['schemas']['SignInLinkCanceller'];
export type SignInLinkExpiredWebhook = components['schemas']['SignInLinkExpiredWebhook'];
export type SignInLinkExpiredWebhookData = components['schemas']['SignInLinkExpiredWebhookData'];
export type SignInLinkFailedWebhook = components['schemas']['SignInLinkFailedWebhook'];
export type SignInLinkFailedWebhookData = components['schemas']['SignInLinkFailedWebhookData'];
export type SignInLinkResponse = components['schemas']['SignInLinkResponse'];
export type SignInLinkSource = components['schemas']['SignInLinkSource'];
export type SignInLinkStatus = components['schemas']['SignInLinkStatus'];
export type SignInProof = components['schemas']['SignInProof'];
export type SingleRequestLogEntryResponse = components['schemas']['SingleRequestLogEntryResponse'];
export type StreamWebhooksResponse = components['schemas']['StreamWebhooksResponse'];
export type SubmitApplicationRequest = components['schemas']['SubmitApplicationRequest'];
export type TestWebhookEndpointRequest = components['schemas']['TestWebhookEndpointRequest'];
export type TestedWebhookEndpointResponse = components['schemas']['TestedWebhookEndpointResponse'];
export type TokenType = components['schemas']['TokenType'];
export type TriggerWebhookRequest = components['schemas']['TriggerWebhookRequest'];
export type TriggeredWebhookResponse = components['schemas']['TriggeredWebhookResponse'];
export type UnlinkAccountRequest = components['schemas']['UnlinkAccountRequest'];
export type UpdateWebhookEndpointRequest = components['schemas']['UpdateWebhookEndpointRequest'];
export type UserErasureResponse = components['schemas']['UserErasureResponse'];
export type UserErasureStatus = components['schemas']['UserErasureStatus'];
export type WebhookEndpointDisabledReason = components['schemas']['WebhookEndpointDisabledReason'];
export type WebhookEndpointHealth = components['schemas']['WebhookEndpointHealth'];
export type WebhookEndpointListResponse = components['schemas']['WebhookEndpointListResponse'];
export type WebhookEndpointResponse = components['schemas']['WebhookEndpointResponse'];
export type WebhookEndpointSigning = components['schemas']['WebhookEndpointSigning'];
export type WebhookEndpointStatus = components['schemas']['WebhookEndpointStatus'];
export type WebhookEvent = components['schemas']['WebhookEvent'];
export type WebhookEventListResponse = components['schemas']['WebhookEventListResponse'];
export type WebhookEventResponse = components['schemas']['WebhookEventResponse'];
export type WebhookMerchant = components['schemas']['WebhookMerchant'];
export type WebhookMetadata = components['schemas']['WebhookMetadata'];
