import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TransactionHost } from '@nestjs-cls/transactional';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AppOptions } from '../../src/app.module.js';
import { createApplication } from '../../src/application.js';
import {
  configurationDefinitions,
  loadConfiguration,
  variablesOf,
} from '../../src/infrastructure/config/index.js';
import type { DashboardRole } from '../../src/infrastructure/auth/index.js';
import type { IssuedCredentials } from '../../src/modules/api-clients/index.js';
import { LoginService } from '../../src/modules/dashboard-login/index.js';
import { DashboardUsersService } from '../../src/modules/dashboard-users/index.js';
import { OrganizationsService } from '../../src/modules/organizations/index.js';
import { expectDocumented } from './documents/api-document.js';
import { openSession } from './pages/dashboard-users.js';
import { cloneDatabase, type TestDatabase } from './database/database.js';
import { encoded, send } from './http/http.js';
import { isOwnOrigin, outgoingRequests } from './http/outgoing-requests.js';
import { rememberSecret } from './runner/run-directory.js';

export interface TestResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface RequestOptions {
  readonly method?: string;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly as?: IssuedCredentials;
  /** The login of a dashboard user. */
  readonly login?: Login;
  /** An access token. */
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** A dashboard user with a login in a browser. */
export interface Login {
  readonly userId: string;
  readonly organizationId: string;
  readonly email: string;
  readonly password: string;
  /** The value of the `Cookie` header. */
  readonly cookie: string;
}

/** The whole service over real HTTP, with its own database. */
export interface TestApp {
  readonly app: NestExpressApplication;
  readonly database: TestDatabase;
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly development: IssuedCredentials;
  readonly production: IssuedCredentials;
  /** Sends a request, and checks the response against the API document. */
  request<Body = Record<string, unknown>>(
    path: string,
    options?: RequestOptions,
  ): Promise<TestResponse<Body>>;
  /** Adds a dashboard user, of this organization by default, and opens a session without the login page. */
  login(role?: DashboardRole, organizationId?: string): Promise<Login>;
  /** The directory of the service's files, such as emails. */
  readonly dataDirectory: string;
  /** Creates another organization, to test that organizations are isolated. */
  anotherOrganization(): Promise<{
    id: string;
    development: IssuedCredentials;
    production: IssuedCredentials;
  }>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns new keys of a service, to start several processes with the same ones. */
export function newKeys() {
  const keys = {
    SECRET_PEPPER: randomBytes(32).toString('base64'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  rememberSecret(...Object.values(keys));
  return keys;
}

/** Returns settings with which no test reaches a rate limit: those of all capabilities. */
export function withoutLimits(): Record<string, string> {
  const names = configurationDefinitions().flatMap(({ target }) =>
    variablesOf(target).map(({ name }) => name),
  );
  const limits = names.filter((name) => /_PER_(?:MINUTE|HOUR)/.test(name));
  return Object.fromEntries(limits.map((name) => [name, '1000000']));
}

/** Milliseconds. The tests of the pauses after failed logins set the usual ones. */
const SHORT_PAUSES: LoginService['pauses'] = { failure: 20, slowed: 50 };

/** The hosts of transactions of the running applications, in the order in which they started. */
const transactionHosts: (readonly [symbol, TransactionHost])[][] = [];

/**
 * Makes `@Transactional()` use the application that was started before, when this one is closed: it always uses the one that
 * was created last in the process.
 *
 * @returns a function to call after the application was closed
 */
function keepTransactionHosts(): () => void {
  const current = Reflect.get(TransactionHost, '_instanceMap') as Map<symbol, TransactionHost>;
  const own = [...current];
  transactionHosts.push(own);
  return () => {
    transactionHosts.splice(transactionHosts.indexOf(own), 1);
    for (const [name, host] of transactionHosts.at(-1) ?? []) current.set(name, host);
  };
}

/**
 * Starts the service before the tests of a file or a block, and closes it after them. The properties of the returned object exist
 * from then on.
 *
 * @param environment a function if it has addresses of servers that start before the tests, too
 */
export function useTestApp(
  environment: Record<string, string> | (() => Record<string, string>) = {},
  options?: Parameters<typeof startTestApp>[1],
): TestApp {
  const service = {} as TestApp;
  beforeAll(async () => {
    const given = typeof environment === 'function' ? environment() : environment;
    Object.assign(service, await startTestApp(given, options));
  });
  // Nothing was started if `beforeAll` failed.
  afterAll(() => (service as Partial<TestApp>).close?.());
  return service;
}

/** Adds a dashboard user and logs the user in, before the tests of a file or a block. */
export function useLogin(service: TestApp, role?: DashboardRole): Login {
  const login = {} as Login;
  beforeAll(async () => void Object.assign(login, await service.login(role)));
  return login;
}

/**
 * @param options.backgroundWork whether scheduled jobs and the delivery worker run too
 * @param options.modules further modules, with routes that only the test needs
 * @param options.addressOf returns the URL by which the service reaches its database
 */
export async function startTestApp(
  environment: Record<string, string> = {},
  {
    backgroundWork = false,
    modules = [],
    addressOf = (url) => url,
  }: Partial<AppOptions> & { readonly addressOf?: (url: string) => string | Promise<string> } = {},
): Promise<TestApp> {
  const database = await cloneDatabase();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'data-'));
  const configuration = loadConfiguration({
    DATA_DIR: dataDirectory,
    DATABASE_URL: await addressOf(database.url),
    DATABASE_DISTRIBUTION: process.env.TEST_DATABASE_DISTRIBUTION ?? 'none',
    ...newKeys(),
    DATABASE_CONNECT_TIMEOUT_MS: '10000',
    // Tests send more requests, and more wrong credentials, than the default limits allow.
    PLATFORM_REQUESTS_PER_MINUTE: '1000000',
    DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
    MCP_TOOL_CALLS_PER_MINUTE: '1000000',
    FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS: '1000000',
    ...environment,
  });
  let app = await createApplication(configuration, { backgroundWork, modules });
  const restoreTransactionHosts = keepTransactionHosts();
  Object.assign(app.get(LoginService).pauses, SHORT_PAUSES);
  await app.listen(0, '127.0.0.1');
  const baseUrl = await app.getUrl();
  isOwnOrigin(baseUrl);
  const createOrganization = async () => {
    const organizations = app.get(OrganizationsService);
    const ownerEmail = `${randomBytes(6).toString('hex')}@example.com`;
    const created = await organizations.create(
      await organizations.prepare({ name: 'Test organization', ownerEmail, ownerName: 'Owner' }),
    );
    rememberSecret(created.development.secret, created.production.secret, created.owner.password);
    return created;
  };
  const { id: organizationId, development, production } = await createOrganization();
  const login = async (role: DashboardRole = 'owner', ofOrganization = organizationId): Promise<Login> => {
    const users = app.get(DashboardUsersService);
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    const added = await users.add(
      await users.prepare({ organizationId: ofOrganization, email, name: `The ${role}`, role }),
    );
    const { cookie } = await openSession({ app }, added);
    rememberSecret(added.password);
    const { id: userId, password } = added;
    return { userId, organizationId: ofOrganization, email, password, cookie };
  };
  return {
    app,
    database,
    baseUrl,
    dataDirectory,
    login,
    organizationId,
    development,
    production,
    anotherOrganization: createOrganization,
    async request<Body>(path: string, options: RequestOptions = {}): Promise<TestResponse<Body>> {
      const method = options.method ?? (options.body === undefined ? 'GET' : 'POST');
      const { status, headers, text } = await send(`${baseUrl}${path}`, {
        method,
        headers: {
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(options.as ? { authorization: basic(options.as) } : {}),
          ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
          ...(options.login ? { cookie: options.login.cookie } : {}),
          ...options.headers,
        },
        ...(options.body === undefined ? {} : { body: encoded(options.body) }),
      });
      const isJson = /^application\/json\b/.test(headers.get('content-type') ?? '');
      const body = (text === '' ? undefined : isJson ? JSON.parse(text) : text) as Body;
      expectDocumented(method, path, status, headers, body);
      return { status, headers, body };
    },
    async close() {
      await app.close();
      restoreTransactionHosts();
      await database.drop();
      expect(outgoingRequests().incomplete).toEqual([]);
      // Node.js keeps the variables of the test file, which has this object.
      Object.assign(this, { app: undefined });
      app = undefined as never;
    },
    [Symbol.asyncDispose](this: TestApp) {
      return this.close();
    },
  };
}

export function basic(credentials: Pick<IssuedCredentials, 'clientId' | 'secret'>): string {
  const encoded = Buffer.from(`${credentials.clientId}:${credentials.secret}`).toString('base64');
  rememberSecret(encoded);
  return `Basic ${encoded}`;
}

/** Returns how many of the responses have this status. */
export function countOf(responses: readonly { readonly status: number }[], status: number): number {
  return responses.filter((response) => response.status === status).length;
}

/** Returns the body of an error response. */
export function error(type: string, code: string, message: string): Record<string, string> {
  return { error_type: type, error_code: code, error_message: message };
}

export const invalidField = (message: string): Record<string, string> =>
  error('INVALID_REQUEST', 'INVALID_FIELD', message);

/** Returns cursors that no list accepts; `cursor-codec.spec.ts` has all others. */
export const alteredCursors = (cursor: string): string[] => [
  '\0',
  'null',
  '[]',
  `${cursor}=`,
  `${cursor} `,
  ` ${cursor}`,
  `${cursor}${cursor}`,
  cursor.toUpperCase(),
  cursor.slice(0, -1),
  'A'.repeat(10_000),
];

export const INVALID_CURSOR = error(
  'INVALID_REQUEST',
  'INVALID_CURSOR_FORMAT',
  'The cursor is not valid. Send the next_cursor of the previous response with the same parameters.',
);

export const MISMATCH = error(
  'INVALID_REQUEST',
  'ENVIRONMENT_MISMATCH',
  'The environment must be that of the access token.',
);
