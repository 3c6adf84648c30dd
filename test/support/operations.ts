import type { DashboardRole, Scope } from '../../src/infrastructure/auth/index.js';
import { ApiClientsService } from '../../src/modules/api-clients/index.js';
import type { AuditAction } from '../../src/modules/audit-logs/index.js';
import { IDENTIFY_OPERATION_NAME } from '../../src/modules/detected-accounts/index.js';
import type { TestApp } from './test-app.js';

/** Enables `IDENTIFY_DETECTED_ACCOUNTS` for a client, which new clients cannot use. */
export const enableIdentification = (
  { app, development }: TestApp,
  { clientId } = development,
): Promise<unknown> => app.get(ApiClientsService).enableOperation(clientId, IDENTIFY_OPERATION_NAME);

/** An operation of the API. */
export interface TestedOperation {
  readonly id: string;
  readonly path: string;
  /** `basic`: of an API client. `login`: of a dashboard user in a browser. `service`: a service token. */
  readonly credentials: 'basic' | 'login' | 'service' | 'none';
  /** `POST` by default. */
  readonly method?: string;
  /** The environment of the credentials, if the operation requires a particular one. */
  readonly environment?: 'development' | 'production';
  /** A valid body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The status of a success; 200 by default. */
  readonly status?: number;
}

export interface BodyOperation extends TestedOperation {
  readonly body: Readonly<Record<string, unknown>>;
}

export const CREATE_MCP_TOKEN: BodyOperation = {
  id: 'createMcpToken',
  path: '/mcp/tokens/create',
  credentials: 'basic',
  body: { external_user_id: 'user-1', expires_in: 3600, phone_number: '+12125550123' },
};

export const SEARCH_DETECTED_ACCOUNTS: BodyOperation = {
  id: 'searchDetectedAccounts',
  path: '/detected-accounts/search',
  credentials: 'basic',
  body: { external_user_id: 'user-1', names: ['Netflix', 'door dash'] },
};

/** Responds with 403 until it is enabled for the client. */
export const IDENTIFY_DETECTED_ACCOUNTS: BodyOperation = {
  id: 'identifyDetectedAccounts',
  path: '/detected_accounts/identify',
  credentials: 'basic',
  body: { external_user_id: 'user-1', name: ['Netflix', 'door dash'] },
};

export const SUBMIT_JOB_APPLICATION: BodyOperation = {
  id: 'submitJobApplication',
  path: '/apply',
  credentials: 'none',
  body: {
    role: 'product_engineer',
    full_name: 'Ada Lovelace',
    email: 'ada@example.com',
    resume_url: 'https://example.com/ada.pdf',
    years_experience: 7,
    authorized_to_work: true,
    onsite_nyc: false,
    phone_number: '+442071838750',
    github_url: 'https://github.com/ada',
    linkedin_url: 'https://www.linkedin.com/in/ada',
    twitter_url: 'https://twitter.com/ada',
    website: 'https://ada.example.com',
    exceptional_at: 'Analytical engines.',
  },
};

export const CREATE_SESSION: BodyOperation = {
  id: 'createSession',
  path: '/session/create',
  credentials: 'basic',
  body: {
    type: 'card_switcher',
    external_user_id: 'user-1',
    card_id: 'card-81',
    email: 'ada@example.com',
    phone_number: '+12125550123',
    metadata: { order: '4711' },
  },
};

const sandbox = (id: string, path: string, body: BodyOperation['body']): BodyOperation => ({
  id,
  path: `/development/${path}`,
  credentials: 'basic',
  environment: 'development',
  body,
});

const ACCOUNT = { external_user_id: 'user-1', merchant_id: 16 };
export const LINK_SANDBOX_ACCOUNT = sandbox('linkSandboxAccount', 'accounts/link', ACCOUNT);
/** Requires that the account is linked. */
export const DISCONNECT_SANDBOX_ACCOUNT = sandbox('disconnectSandboxAccount', 'accounts/disconnect', ACCOUNT);

/** Requires that the account is linked. */
export const UNLINK_ACCOUNT: BodyOperation = {
  id: 'unlinkAccount',
  path: '/accounts/unlink',
  credentials: 'basic',
  body: ACCOUNT,
};

export const SANDBOX_OPERATIONS: readonly BodyOperation[] = [
  LINK_SANDBOX_ACCOUNT,
  DISCONNECT_SANDBOX_ACCOUNT,
  sandbox('detectSandboxAccounts', 'detected-accounts', {
    external_user_id: 'user-1',
    merchants: ['Netflix', 19],
  }),
  sandbox('triggerSandboxWebhook', 'webhooks/trigger', {
    event: 'CARD_UPDATED',
    external_user_id: 'user-1',
    merchant_id: 16,
    data: { card_id: 'card-81' },
    metadata: { order: '4711' },
  }),
];

export const LIST_AUDIT_LOGS: TestedOperation = {
  id: 'listAuditLogs',
  path: '/audit_logs',
  credentials: 'basic',
  method: 'GET',
  environment: 'production',
};

export const LIST_SIGN_IN_LINKS: TestedOperation = {
  id: 'listSignInLinks',
  path: '/sign-in-links?external_user_id=user-1',
  credentials: 'basic',
  method: 'GET',
};

export const ERASE_EXTERNAL_USER: TestedOperation = {
  id: 'eraseExternalUser',
  path: '/external-users/user-1',
  credentials: 'basic',
  method: 'DELETE',
};

export const GET_USER_ERASURE: TestedOperation = {
  id: 'getUserErasure',
  path: '/external-users/user-1/erasure',
  credentials: 'basic',
  method: 'GET',
};

export const ERASE_USER: BodyOperation = {
  id: 'eraseUser',
  path: '/external-users/erase',
  credentials: 'basic',
  body: { external_user_id: 'user-1' },
  status: 202,
};

export const FIND_USER_ERASURE: TestedOperation = {
  id: 'findUserErasure',
  path: '/external-users/erasure?external_user_id=user-1',
  credentials: 'basic',
  method: 'GET',
};

export const CREATE_CONNECTION_CODE: BodyOperation = {
  id: 'createConnectionCode',
  path: '/mcp/connection-codes',
  credentials: 'basic',
  body: { external_user_id: 'user-1', phone_number: '+12125550123' },
};

export const BODY_OPERATIONS: readonly BodyOperation[] = [
  CREATE_MCP_TOKEN,
  CREATE_CONNECTION_CODE,
  SEARCH_DETECTED_ACCOUNTS,
  IDENTIFY_DETECTED_ACCOUNTS,
  SUBMIT_JOB_APPLICATION,
  CREATE_SESSION,
  ERASE_USER,
  ...SANDBOX_OPERATIONS,
];

export const OPERATIONS: readonly TestedOperation[] = [...BODY_OPERATIONS, LIST_AUDIT_LOGS];

/** The client in the bodies of the internal operations. */
export const INTERNAL_CLIENT_ID = '7f9c1f0e-2d7c-4f53-8a94-4c8a5e2f6b10';

const STATUS_UPDATE = {
  client_id: INTERNAL_CLIENT_ID,
  event: 'MERCHANT_STATUS_UPDATE',
  merchant_id: 16,
  data: { type: 'link', status: 'UP' },
};

/** Operations of the platform's own services. */
export const INTERNAL_OPERATIONS: readonly BodyOperation[] = [
  { id: 'publishEvent', path: '/events', credentials: 'service', body: STATUS_UPDATE },
  { id: 'publishEvents', path: '/events/batch', credentials: 'service', body: { events: [STATUS_UPDATE] } },
  {
    id: 'createDetection',
    path: '/detections',
    credentials: 'service',
    body: { client_id: INTERNAL_CLIENT_ID, external_user_id: 'user-1', merchants: ['Netflix', 19] },
  },
];

/** An ID that does not exist. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** Requests for a session that does not exist. */
export const SESSION_OPERATIONS: readonly BodyOperation[] = [
  {
    id: 'extendSession',
    path: '/session/extend',
    credentials: 'basic',
    body: { session_id: UNKNOWN_ID },
    status: 404,
  },
  {
    id: 'openSession',
    path: '/session/open',
    credentials: 'none',
    body: { session_id: UNKNOWN_ID, metadata: { order: '4711' } },
    status: 404,
  },
];

/** An operation of the dashboard API, mostly requested for something that does not exist. */
export interface TestedDashboardOperation extends TestedOperation {
  readonly credentials: 'login';
  readonly method: string;
  /** The lowest role with access. */
  readonly role: DashboardRole;
  readonly action?: AuditAction;
  /** The scope that an access token needs. */
  readonly scope: Scope;
  /** Whether the path or body refers to something that does not exist, so that the response is 404. */
  readonly isNotFound?: true;
}

export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

type Details = Omit<TestedDashboardOperation, 'id' | 'method' | 'path' | 'credentials'>;
const operation = (id: string, route: string, details: Details): TestedDashboardOperation => {
  const [method = '', path = ''] = route.split(' ');
  return { id, method, path, credentials: 'login', ...details };
};

const PRODUCTION = { environment: 'production' };

export const DASHBOARD_OPERATIONS: readonly TestedDashboardOperation[] = [
  operation('listRequestLogs', 'GET /request-logs?environment=production', {
    role: 'viewer',
    scope: 'request_logs:read',
  }),
  operation('getRequestLog', `GET /request-logs/${UNKNOWN_ID}`, {
    role: 'viewer',
    scope: 'request_logs:read',
    isNotFound: true,
  }),
  operation('listWebhookEndpoints', 'GET /webhook-endpoints?environment=production', {
    role: 'viewer',
    scope: 'webhook_endpoints:read',
  }),
  operation('getWebhookEndpoint', `GET /webhook-endpoints/${UNKNOWN_ID}`, {
    role: 'viewer',
    scope: 'webhook_endpoints:read',
    isNotFound: true,
  }),
  operation('createWebhookEndpoint', 'POST /webhook-endpoints/create', {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.create',
    body: { ...PRODUCTION, url: 'https://hooks.example.com/', description: 'A test' },
  }),
  operation('updateWebhookEndpoint', `PATCH /webhook-endpoints/${UNKNOWN_ID}`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.update',
    isNotFound: true,
    body: { url: 'https://hooks.example.com/', description: 'A test' },
  }),
  operation('deleteWebhookEndpoint', `DELETE /webhook-endpoints/${UNKNOWN_ID}`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.delete',
    isNotFound: true,
  }),
  operation('testWebhookEndpoint', `POST /webhook-endpoints/${UNKNOWN_ID}/test`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    isNotFound: true,
    body: { event: 'CARD_UPDATED' },
  }),
  operation('redeliverWebhook', `POST /webhook-endpoints/${UNKNOWN_ID}/redeliver`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.resend',
    isNotFound: true,
    body: { event_id: UNKNOWN_ID },
  }),
  operation('recoverWebhooks', `POST /webhook-endpoints/${UNKNOWN_ID}/recover`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.resend',
    isNotFound: true,
    body: { since: '2026-01-31T08:00:00Z' },
  }),
  operation('getWebhookRecovery', `GET /webhook-endpoints/${UNKNOWN_ID}/recover`, {
    role: 'viewer',
    scope: 'webhook_endpoints:read',
    isNotFound: true,
  }),
];
