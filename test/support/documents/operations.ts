import type { DashboardRole, Scope } from '../../../src/infrastructure/auth/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import type { AuditAction } from '../../../src/infrastructure/audit-catalog/index.js';
import { IDENTIFY_OPERATION_NAME } from '../../../src/modules/detected-accounts/index.js';
import { committed } from './documents.js';
import type { TestApp } from '../test-app.js';

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
  /** Whether a limit of its own replaces that of all operations of the platform. */
  readonly hasOwnLimit?: boolean;
}

export interface BodyOperation extends TestedOperation {
  readonly body: Readonly<Record<string, unknown>>;
}

interface DocumentedPost {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: Schema; readonly example?: object }>;
  };
  readonly responses: object;
}

interface Schema {
  readonly $ref?: string;
  readonly example?: unknown;
  readonly properties?: Record<string, Schema>;
}

const { paths, components } = JSON.parse(committed('openapi.json')) as {
  readonly paths: Record<string, { readonly post?: DocumentedPost }>;
  readonly components: { readonly schemas: Record<string, Schema> };
};

const resolved = (schema: Schema): Schema =>
  (schema.$ref && components.schemas[schema.$ref.split('/').at(-1) ?? '']) || schema;

/** The operations with a JSON body that API clients perform, or everybody, as `openapi.json` describes them, with the examples as body. */
const DOCUMENTED: ReadonlyMap<string, BodyOperation> = new Map(
  Object.entries(paths).flatMap(([path, { post }]) => {
    const json = post?.requestBody?.content['application/json'];
    const credentials = post?.security.some((each) => 'basic' in each) ? 'basic' : 'none';
    const isOther = credentials === 'none' && JSON.stringify(post?.security) !== '[{}]';
    if (!post || !json || isOther || path.includes('{')) return [];
    const examples = Object.entries(resolved(json.schema).properties ?? {}).flatMap(([name, property]) => {
      const { example } = { ...resolved(property), ...property };
      return example === undefined ? [] : [[name, example]];
    });
    const example: Record<string, unknown> = { ...(json.example ?? Object.fromEntries(examples)) };
    const body = { ...example, ...('external_user_id' in example && { external_user_id: 'user-1' }) };
    const hasOwnLimit = /Limit: \d/.test(post.description);
    const status = Number(Object.keys(post.responses)[0]);
    return [[post.operationId, { id: post.operationId, path, credentials, body, status, hasOwnLimit }]];
  }),
);

/** Returns an operation of `openapi.json` with the examples as body. Run `npm run openapi` after you have added one. */
export function documentedOperation(id: string): BodyOperation {
  const found = DOCUMENTED.get(id);
  if (!found) throw new Error(`openapi.json has no operation ${id} with a body: run npm run openapi.`);
  return found;
}

export const CREATE_MCP_TOKEN = documentedOperation('createMcpToken');
export const SEARCH_DETECTED_ACCOUNTS = documentedOperation('searchDetectedAccounts');
/** Responds with 403 until it is enabled for the client. */
export const IDENTIFY_DETECTED_ACCOUNTS = documentedOperation('identifyDetectedAccounts');
export const SUBMIT_JOB_APPLICATION = documentedOperation('submitJobApplication');
export const CREATE_SESSION = documentedOperation('createSession');
export const ERASE_USER = documentedOperation('eraseUser');
export const CREATE_CONNECTION_CODE = documentedOperation('createConnectionCode');

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

export const FIND_USER_ERASURE: TestedOperation = {
  id: 'findUserErasure',
  path: '/external-users/erasure?external_user_id=user-1',
  credentials: 'basic',
  method: 'GET',
};

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

/** Their bodies depend on something that exists, or not. */
const OTHERS: ReadonlySet<string> = new Set(
  [UNLINK_ACCOUNT, ...SESSION_OPERATIONS, ...SANDBOX_OPERATIONS].map(({ id }) => id),
);

/** Includes the operations of capabilities that are added. */
export const BODY_OPERATIONS: readonly BodyOperation[] = [
  ...[...DOCUMENTED.values()].filter(({ id }) => !OTHERS.has(id)),
  ...SANDBOX_OPERATIONS,
];

export const OPERATIONS: readonly TestedOperation[] = [...BODY_OPERATIONS, LIST_AUDIT_LOGS];

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
  operation('rotateWebhookEndpointKey', `POST /webhook-endpoints/${UNKNOWN_ID}/rotate-key`, {
    role: 'member',
    scope: 'webhook_endpoints:write',
    action: 'webhook.rotate_key',
    isNotFound: true,
    body: { signing: 'hmac' },
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
