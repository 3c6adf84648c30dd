import { randomUUID } from 'node:crypto';
import { CREATE_CONNECTION_CODE, CREATE_MCP_TOKEN, CREATE_SESSION } from './operations.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { Login, RequestOptions, TestApp, TestResponse } from '../test-app.js';

export interface IdempotentOperation {
  readonly path: string;
  readonly table: string;
  readonly newBody: () => object;
  readonly credentials: () => RequestOptions;
  readonly others: () => Promise<RequestOptions[]>;
}

/** Returns the operations that take an idempotency key, and sends requests as a client or as a new owner for each test. */
export function useIdempotentOperations(service: TestApp) {
  let owner: Login;
  let urls = 0;

  beforeEach(async () => {
    owner = await service.login('owner');
    // An environment can have at most 10 endpoints.
    await service.database.query('DELETE FROM webhook_endpoint');
  });

  const newEndpoint = (): object => ({
    environment: 'development',
    url: `https://hooks.example.com/${(urls += 1)}`,
  });

  const asClient = { credentials: () => ({ as: service.development }), others: otherClients };
  const OPERATIONS: readonly IdempotentOperation[] = [
    { path: CREATE_MCP_TOKEN.path, table: 'mcp_token', newBody: () => CREATE_MCP_TOKEN.body, ...asClient },
    { path: CREATE_SESSION.path, table: 'session', newBody: () => CREATE_SESSION.body, ...asClient },
    {
      path: CREATE_CONNECTION_CODE.path,
      table: 'agent_connection_code',
      newBody: () => CREATE_CONNECTION_CODE.body,
      ...asClient,
    },
    {
      path: '/sign-in-links',
      table: 'sign_in_link',
      newBody: () => ({ external_user_id: randomUUID(), merchant_id: 16 }),
      credentials: () => ({ as: service.development }),
      // Production has no login page.
      others: async () => [{ as: (await service.anotherOrganization()).development }],
    },
    {
      path: '/webhook-endpoints/create',
      table: 'webhook_endpoint',
      newBody: newEndpoint,
      credentials: () => ({ login: owner }),
      others: async () => {
        const { id } = await service.anotherOrganization();
        return [{ login: await service.login('owner', id) }, { login: await service.login('member') }];
      },
    },
  ];

  async function otherClients(): Promise<RequestOptions[]> {
    return [{ as: service.production }, { as: (await service.anotherOrganization()).development }];
  }

  async function send(
    { path, credentials }: IdempotentOperation,
    key: string,
    body: unknown,
    options = credentials(),
  ): Promise<TestResponse> {
    const response = await service.request(path, { body, headers: { 'idempotency-key': key }, ...options });
    if (typeof response.body['token'] === 'string') rememberSecret(response.body['token']);
    return response;
  }

  const numberOf = async (table: string): Promise<number> =>
    Number((await service.database.query<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count);

  return { OPERATIONS, send, numberOf };
}
