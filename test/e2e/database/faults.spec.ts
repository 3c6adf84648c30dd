import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { isDatabaseUnavailable } from '../../../src/infrastructure/database/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { eventually } from '../../support/eventually.js';
import { logLinesOf } from '../../support/logs/log-lines.js';
import {
  enableIdentification,
  CREATE_MCP_TOKEN,
  CREATE_SESSION,
  DASHBOARD_OPERATIONS,
  DISCONNECT_SANDBOX_ACCOUNT,
  IDENTIFY_DETECTED_ACCOUNTS,
  LINK_SANDBOX_ACCOUNT,
  LIST_AUDIT_LOGS,
  OPERATIONS,
  SANDBOX_OPERATIONS,
  SEARCH_DETECTED_ACCOUNTS,
  SESSION_OPERATIONS,
  SUBMIT_JOB_APPLICATION,
  type TestedOperation,
} from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { error, useTestApp, type TestResponse, useLogin } from '../../support/test-app.js';

const SERVICE_UNAVAILABLE = error(
  'API_ERROR',
  'SERVICE_UNAVAILABLE',
  'The service is temporarily unavailable. Retry after the time in the Retry-After header.',
);
const INTERNAL_ERROR = error(
  'API_ERROR',
  'INTERNAL_ERROR',
  'An unexpected error occurred. Quote the X-Request-Id header when reporting it.',
);

const service = useTestApp({ APPLICATIONS_PER_HOUR: '1000000' });
/** Credentials that were used just now, so the process has cached them. */
let known: IssuedCredentials;
/** Credentials of another organization, which has not sent a request yet. */
let unknown: IssuedCredentials;
const owner = useLogin(service, 'owner');

beforeAll(async () => {
  known = service.development;
  ({ production: unknown } = await service.anotherOrganization());
  await enableIdentification(service, known);
  // The parameters of a failing statement must not be logged.
  const { email, full_name, phone_number } = SUBMIT_JOB_APPLICATION.body;
  rememberSecret(String(email), String(full_name), String(phone_number));
  rememberSecret(String(CREATE_MCP_TOKEN.body['phone_number']));
});

const send = (operation: TestedOperation, as = credentialsFor(operation)): Promise<TestResponse> => {
  const { path, method = 'POST', body, credentials } = operation;
  return service.request(path, {
    method,
    body,
    ...(credentials === 'basic' ? { as } : {}),
    ...(credentials === 'login' ? { login: owner } : {}),
  });
};

const credentialsFor = ({ environment }: TestedOperation): IssuedCredentials =>
  environment === undefined ? known : service[environment];

async function requestAll(as?: IssuedCredentials): Promise<number[]> {
  const statuses: number[] = [];
  for (const operation of OPERATIONS) statuses.push((await send(operation, as)).status);
  return statuses;
}

describe('While the database is unavailable', () => {
  const unavailable = ({ status, headers, body }: TestResponse): void => {
    expect([status, body]).toEqual([503, SERVICE_UNAVAILABLE]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  };

  beforeAll(async () => {
    expect(await requestAll()).toEqual(OPERATIONS.map(({ status = 200 }) => status));
    await service.database.cutOff();
  });
  afterAll(() => service.database.reconnect());

  it.each([...OPERATIONS, ...SESSION_OPERATIONS, ...DASHBOARD_OPERATIONS])(
    'responds with 503 to $id',
    async (operation) => {
      unavailable(await send(operation));
    },
  );

  it('responds with 503 to a client whose credentials it must look up', async () => {
    for (const operation of OPERATIONS) unavailable(await send(operation, unknown));
  });

  it('responds with 503 to concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        send(OPERATIONS[index % OPERATIONS.length] ?? CREATE_MCP_TOKEN),
      ),
    );
    for (const response of responses) unavailable(response);
  });

  it('still rejects requests that can be rejected without the database', async () => {
    const { status } = await service.request(CREATE_MCP_TOKEN.path, { body: {} });
    expect(status).toBe(401);
    expect((await service.request(SUBMIT_JOB_APPLICATION.path, { body: {} })).status).toBe(400);
    expect((await service.request('/nowhere')).status).toBe(404);
  });

  it('is alive but not ready', async () => {
    expect(await service.request('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    unavailable(await service.request('/readyz'));
  });

  it('recovers by itself and writes the log entries of the outage', async () => {
    await service.database.reconnect();
    await eventually('it is ready', async () => (await service.request('/readyz')).status === 200);
    expect(await requestAll()).toEqual(OPERATIONS.map(({ status = 200 }) => status));
    expect(await requestAll(unknown)).toEqual(
      OPERATIONS.map(({ id, environment, status = 200 }) => {
        if (id === IDENTIFY_DETECTED_ACCOUNTS.id || environment === 'development') return 403;
        // A client in production has no login page at first.
        return id === 'createSignInLink' ? 400 : status;
      }),
    );
    const entries = await eventually('the entries are there', async () => {
      const [row] = await service.database.query<{ count: number }>(
        'SELECT count(*)::integer AS count FROM request_log WHERE client_id = $1 AND status_code = 503',
        [known.clientId],
      );
      return row && row.count > 0 && row.count;
    });
    expect(entries).toBeGreaterThanOrEqual(3);
  });

  it('survives repeated outages', async () => {
    for (let round = 0; round < 3; round += 1) {
      await service.database.cutOff();
      unavailable(await send(CREATE_MCP_TOKEN));
      await service.database.reconnect();
      await eventually('it works again', async () => (await send(CREATE_MCP_TOKEN)).status === 200);
    }
  });
});

describe('When a connection breaks between two statements of a transaction', () => {
  it('reports that the database is unavailable', async () => {
    const connections = service.app.get(DataSource);
    const work = connections.transaction(async (transaction) => {
      const [own] = await transaction.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
      await service.database.query('SELECT pg_terminate_backend($1::integer, 5000)', [own?.pid]);
      // Until this process has noticed.
      await pause(200);
      await transaction.query('SELECT 1');
    });
    const failure: unknown = await work.catch((error: unknown) => error);
    expect([failure, isDatabaseUnavailable(failure)]).toEqual([expect.any(Error), true]);
  });
});

describe('With an internal error', () => {
  function internalError({ status, headers, body }: TestResponse): void {
    expect(status).toBe(500);
    expect(body).toEqual(INTERNAL_ERROR);
    expect(headers.has('retry-after')).toBe(false);
    const lines = logLinesOf(headers.get('x-request-id'));
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 'error' }),
        expect.objectContaining({ level: 'log', message: 'request', status: 500 }),
      ]),
    );
    // The log contains the cause.
    expect(JSON.stringify(lines)).toMatch(/relation .* does not exist/);
  }

  it.each<[string, TestedOperation]>([
    ['mcp_token', CREATE_MCP_TOKEN],
    ['detected_account', SEARCH_DETECTED_ACCOUNTS],
    ['merchant_name', IDENTIFY_DETECTED_ACCOUNTS],
    ['job_application', SUBMIT_JOB_APPLICATION],
    ['session', CREATE_SESSION],
    ['audit_log', LIST_AUDIT_LOGS],
    ...SANDBOX_OPERATIONS.map((operation): [string, TestedOperation] => ['webhook_event', operation]),
  ])('responds with 500 and no details if the table %s is missing', async (table, operation) => {
    expect((await send(operation)).status).toBe(200);
    if (operation === DISCONNECT_SANDBOX_ACCOUNT) await send(LINK_SANDBOX_ACCOUNT);
    {
      await using _table = await service.database.hide(table);
      internalError(await send(operation));
    }
    expect((await send(operation)).status).toBe(200);
  });

  it.each(SESSION_OPERATIONS)(
    'responds with 500 to $id if the table session is missing',
    async (operation) => {
      await using _table = await service.database.hide('session');
      internalError(await send(operation));
    },
  );

  it.each(DASHBOARD_OPERATIONS)(
    'responds with 500 to $id if it cannot check the login',
    async (operation) => {
      await using _table = await service.database.hide('dashboard_session');
      internalError(await send(operation));
    },
  );

  it('does not log the row that PostgreSQL quotes', async () => {
    await service.database.query(
      `ALTER TABLE job_application ADD CONSTRAINT no_ios CHECK (role <> 'ios_engineer') NOT VALID`,
    );
    const { path, body } = SUBMIT_JOB_APPLICATION;
    const applicant = { full_name: 'Jane Quoted', email: 'jane.quoted@example.com', role: 'ios_engineer' };
    const { status, headers } = await service.request(path, { body: { ...(body as object), ...applicant } });
    await service.database.query('ALTER TABLE job_application DROP CONSTRAINT no_ios');
    expect(status).toBe(500);
    const lines = JSON.stringify(logLinesOf(headers.get('x-request-id')));
    expect(lines).toContain('no_ios');
    expect(lines).not.toMatch(/Quoted/i);
  });

  it('responds with 500, not 401, if it cannot check the credentials', async () => {
    const { development: fresh } = await service.anotherOrganization();
    {
      await using _table = await service.database.hide('api_secret');
      internalError(await send(CREATE_MCP_TOKEN, fresh));
    }
    expect((await send(CREATE_MCP_TOKEN, fresh)).status).toBe(200);
  });

  it('writes failed requests to the request log', async () => {
    const { development: fresh } = await service.anotherOrganization();
    expect((await send(CREATE_MCP_TOKEN, fresh)).status).toBe(200);
    {
      await using _table = await service.database.hide('mcp_token');
      internalError(await send(CREATE_MCP_TOKEN, fresh));
    }
    const entries = await service.database.query(
      'SELECT status_code, external_user_id FROM request_log WHERE client_id = $1 ORDER BY id',
      [fresh.clientId],
    );
    expect(entries).toEqual([
      { status_code: 200, external_user_id: 'user-1' },
      { status_code: 500, external_user_id: 'user-1' },
    ]);
  });

  it('fails one of many concurrent requests without failing the others', async () => {
    await service.database.query(
      `ALTER TABLE mcp_token ADD CONSTRAINT no_poison CHECK (external_user_id <> 'poison')`,
    );
    try {
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const external_user_id = index === 7 ? 'poison' : `user-${index}`;
          return (await service.request(CREATE_MCP_TOKEN.path, { body: { external_user_id }, as: known }))
            .status;
        }),
      );
      expect(statuses).toEqual(Array.from({ length: 20 }, (_, index) => (index === 7 ? 500 : 200)));
    } finally {
      await service.database.query('ALTER TABLE mcp_token DROP CONSTRAINT no_poison');
    }
  });
});
