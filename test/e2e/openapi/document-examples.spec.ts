import { readFileSync } from 'node:fs';
import { saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { decide, freshAddress, startFlow } from '../../support/logins/device-flow.js';
import { LoginAgent } from '../../support/agents/agent-logins.js';
import { eventually } from '../../support/eventually.js';
import { enableIdentification } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { newLink } from '../../support/merchants/sign-in-links.js';
import {
  basic,
  useTestApp,
  type RequestOptions,
  type TestResponse,
  useLogin,
} from '../../support/test-app.js';
import { Visitor } from '../../support/pages/visitor.js';

/*
 * Sends each operation's own example, as viewers fill it in. Only IDs that are required are replaced, because those of
 * the examples do not exist.
 */

interface Property {
  readonly $ref?: string;
  readonly example?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter & { readonly $ref?: string })[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { $ref: string }; readonly example?: object }>
    >;
  };
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    parameters: Record<string, Parameter>;
    schemas: Record<string, { properties?: Record<string, Property> }>;
  };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    parameters: (operation.parameters ?? []).map(resolved),
    path,
    method: method.toUpperCase(),
  })),
);

function resolved(parameter: Parameter & { readonly $ref?: string }): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  return name === undefined ? parameter : (document.components.parameters[name] as Parameter);
}

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });
const owner = useLogin(service, 'owner');
let serviceToken: string;

beforeAll(async () => {
  ({ token: serviceToken } = await issueServiceToken(service));
  await enableIdentification(service);
});

/** Returns the body that a viewer fills in. */
function exampleOf({
  requestBody,
}: Operation): { type: string; fields: Record<string, unknown> } | undefined {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || media === undefined) return undefined;
  const { properties = {} } = document.components.schemas[media.schema.$ref.split('/').at(-1) ?? ''] ?? {};
  const ofProperties = Object.fromEntries(
    Object.entries(properties).map(([name, { example }]) => [name, example]),
  );
  return { type, fields: { ...(media.example ?? ofProperties) } };
}

const created = async (
  path: string,
  body: object,
  options: RequestOptions = { login: owner },
): Promise<string> => {
  const response = await service.request(path, { body, ...options });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return String(response.body['id'] ?? response.body['session'] ?? response.body['event_id']);
};
let endpoints = 0;
const newEndpoint = async (): Promise<string> => {
  const url = `https://hooks.example.com/${(endpoints += 1)}`;
  // There is a limit per environment.
  await service.database.query('DELETE FROM webhook_endpoint');
  const id = await created('/webhook-endpoints/create', { environment: 'development', url });
  // An address that the service refuses to send to: a test ends at once and reaches no other host.
  await service.database.query(`UPDATE webhook_endpoint SET url = 'https://127.0.0.1/' || id WHERE id = $1`, [
    id,
  ]);
  return id;
};
const newSession = (): Promise<string> =>
  created('/session/create', { type: 'link', external_user_id: 'user-8f3a' }, { as: service.development });
const newToken = async (): Promise<string> => {
  const body = { external_user_id: 'user-1' };
  const response = await service.request('/mcp/tokens/create', { body, as: service.development });
  const token = String(response.body['token']);
  rememberSecret(token);
  return token;
};
const newEntry = async (): Promise<number> => {
  await newToken();
  return eventually('the request is in the log', async () => {
    const query = '/request-logs?environment=development';
    const { body } = await service.request<{ data: { id: number }[] }>(query, { login: owner });
    return body.data[0]?.id;
  });
};
const setLogin = (url = '') => saveAgentSettings(service, owner, { allowed_agents: 'any', login_url: url });
const clientId = async (): Promise<string> => service.development.clientId;

/** The IDs that replace those in the paths of the examples, by operation. */
const PATH_IDS: Readonly<Record<string, () => Promise<string | number>>> = {
  getEvent: async () =>
    created(
      '/events',
      {
        client_id: await clientId(),
        event: 'NEW_TRANSACTIONS_AVAILABLE',
        external_user_id: 'user-8f3a',
        merchant_id: 16,
      },
      { token: serviceToken },
    ),
  getProtectedResourceMetadata: clientId,
  getAgentAuthorizationServerMetadata: clientId,
  exchangeForAgentTokens: clientId,
  revokeAgentToken: clientId,
  registerAgent: clientId,
  completeAgentAuthorization: async () => {
    await setLogin('https://shop.example.com/login');
    const { location } = await new Visitor(service).get((await LoginAgent.register(service)).authorizePath());
    await setLogin();
    return new URL(location ?? '').searchParams.get('authorization_id') ?? '';
  },
  disconnectAgent: async () => {
    await (await LoginAgent.register(service)).connect('user-connected');
    const rows = await service.database.query<{ id: string }>(
      "SELECT id FROM agent_connection WHERE external_user_id = 'user-connected'",
    );
    return rows[0]?.id ?? '';
  },
  getSignInLink: async () => (await newLink(service)).id,
  cancelSignInLink: async () => (await newLink(service)).id,
  getRequestLog: newEntry,
  getWebhookEndpoint: newEndpoint,
  updateWebhookEndpoint: newEndpoint,
  deleteWebhookEndpoint: newEndpoint,
  testWebhookEndpoint: newEndpoint,
  rotateWebhookEndpointKey: newEndpoint,
  redeliverWebhook: newEndpoint,
  recoverWebhooks: newEndpoint,
  getWebhookRecovery: newEndpoint,
  getUserErasure: async () => {
    await service.request('/external-users/user-8f3a', { method: 'DELETE', as: service.development });
    return 'user-8f3a';
  },
  findUserErasure: async () => {
    await service.request('/external-users/user-8f3a', { method: 'DELETE', as: service.development });
    return '';
  },
};

/** The same in the body. */
const BODY_IDS: Readonly<Record<string, () => Promise<object>>> = {
  createDetection: async () => ({ client_id: await clientId() }),
  publishEvent: async () => ({ client_id: await clientId(), session_id: await newSession() }),
  extendSession: async () => ({ session_id: await newSession() }),
  openSession: async () => ({ session_id: await newSession() }),
  requestDeviceCode: async () => ({ client_id: await clientId() }),
  exchangeDeviceCode: async () => {
    const { device_code, user_code } = await startFlow(service);
    await decide(service, owner, user_code);
    return { device_code, client_id: await clientId() };
  },
  revokeToken: async () => ({ token: await newToken(), client_id: await clientId() }),
  exchangeForAgentTokens: async () => {
    const agent = await LoginAgent.register(service);
    const code = (await agent.authorize('user-8f3a')).get('code');
    const { id: client_id, verifier: code_verifier, redirectUri: redirect_uri } = agent;
    const resource = `${service.baseUrl}/mcp/${await clientId()}`;
    return { client_id, code, code_verifier, redirect_uri, resource };
  },
  introspectToken: async () => ({ token: await newToken() }),
  unlinkAccount: async () => {
    const account = { external_user_id: 'user-unlinked', merchant_id: 16 };
    await created('/development/accounts/link', account, { as: service.development });
    return account;
  },
};

/** Operations whose examples cannot succeed, because what they name cannot be created by a request. */
const OTHER_STATUSES: Readonly<Record<string, number>> = {
  redeliverWebhook: 400,
  registerAgent: 201,
};
/** Responses that do not end. */
const STREAMS = ['streamWebhooks'];

function credentialsOf({ operationId, security }: Operation): RequestOptions {
  const accepts = (scheme: string): boolean => security.some((each) => scheme in each);
  if (accepts('basic'))
    return { as: operationId === 'listAuditLogs' ? service.production : service.development };
  if (accepts('service-token')) return { token: serviceToken };
  return accepts('session') ? { login: owner } : {};
}

async function send(operation: (typeof operations)[number]): Promise<TestResponse> {
  const { operationId, parameters, method } = operation;
  const merchants = await service.database.query<{ id: number }>('SELECT id FROM merchant LIMIT 1');
  const id = String((await PATH_IDS[operationId]?.()) ?? merchants[0]?.id);
  const query = new URLSearchParams(
    parameters
      .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
      .map(({ name, example }) => [name, String(example)]),
  );
  const path = `${operation.path.replace(/\{\w+\}/, id)}${query.size > 0 ? `?${query}` : ''}`;
  if (STREAMS.includes(operationId)) {
    const headers = { authorization: basic(service.development) };
    const response = await fetch(service.baseUrl + path, { headers });
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, body: {} };
  }
  const body = exampleOf(operation);
  const fields = { ...body?.fields, ...(await BODY_IDS[operationId]?.()) };
  const isForm = body?.type === 'application/x-www-form-urlencoded';
  return service.request(path, {
    method,
    ...(body && { body: isForm ? new URLSearchParams(fields as Record<string, string>).toString() : fields }),
    headers: { 'x-forwarded-for': freshAddress(), ...(body && { 'content-type': body.type }) },
    ...credentialsOf(operation),
  });
}

describe('The example of each operation', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'is accepted: %s',
    async (operationId, operation) => {
      const { status, body } = await send(operation);
      const expected = OTHER_STATUSES[operationId] ?? (status === 202 ? 202 : 200);
      if (status !== expected) throw new Error(`${status}: ${JSON.stringify(body)}`);
      const secrets = [
        'access_token',
        'code',
        'device_code',
        'refresh_token',
        'secret',
        'token',
        'user_code',
      ] as const;
      for (const name of secrets) {
        const secret = typeof body === 'object' ? body[name] : undefined;
        if (typeof secret === 'string') rememberSecret(secret);
      }
    },
  );

  it('contains no IDs and cursors that viewers would send without need', () => {
    const optional = operations.flatMap(({ parameters }) =>
      parameters.filter(({ required, example }) => required !== true && example !== undefined),
    );
    expect(optional).toEqual([]);
    const ids = operations.flatMap(({ parameters }) =>
      parameters.filter((parameter) => parameter.in === 'path' && parameter.example !== undefined),
    );
    expect(ids).toEqual([]);
  });
});
