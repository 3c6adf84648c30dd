import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { HOUR } from '../../src/infrastructure/time/index.js';
import type { AttributedClient } from '../../src/infrastructure/http/index.js';
import { mcpToken } from '../support/agents.js';
import { fillRequestLog, loggedRequest } from '../support/request-log-entries.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { Visitor } from '../support/visitor.js';

const PATH = '/dashboard/production/request-logs';

let service: TestApp;
let visitor: Visitor;
let production: AttributedClient;

beforeAll(async () => {
  service = await startTestApp();
  visitor = await loggedIn('member');
  production = { clientId: service.production.clientId, environment: 'production' };
});
afterAll(() => service.close());
beforeEach(() => service.database.query('DELETE FROM request_log'));

async function loggedIn(role: 'member' | 'viewer'): Promise<Visitor> {
  const { cookie } = await service.login(role);
  const opened = new Visitor(service);
  opened.cookies.set('session', cookie.replace('session=', ''));
  return opened;
}

const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);

/** Adds requests of users that are named by their number, the newest last. */
const addRequests = (count: number, change = {}): Promise<void> =>
  fillRequestLog(
    service,
    Array.from({ length: count }, (_, index) =>
      loggedRequest(production, {
        createdAt: ago(HOUR - index),
        externalUserId: `user-${index + 1}`,
        sessionId: randomUUID(),
        ...change,
      }),
    ),
  );

/** Opens the newest entry, and returns what a browser shows of the page. */
async function openNewest(): Promise<string> {
  const { text } = await visitor.get(firstEntry((await visitor.get(PATH)).text));
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}

/** Returns the path of the first entry of the list. */
const firstEntry = (html: string): string => new RegExp(`href="(${PATH}/\\d+)"`).exec(html)?.[1] ?? '';

describe('The page of a request log entry', () => {
  it('shows a tool call of an agent with a curl command that works with the token of the user', async () => {
    await addRequests(1, { path: '/mcp', tool: 'get_connection_info' });
    expect((await visitor.get(PATH)).text).toContain('>POST /mcp get_connection_info</a>');
    const text = await openNewest();
    expect(text).toMatch(/<dt>Tool<\/dt>\s*<dd>get_connection_info<\/dd>/);
    expect(text).toContain(
      'Set token to an MCP token of this user. The log does not keep the arguments of tools',
    );
    const [, curl = ''] = /<code>(curl -sS[^]*?)<\/code>/.exec(text.replaceAll('&#39;', "'")) ?? [];
    const token = await mcpToken(service, 'user-1', { as: service.production });
    const { stdout } = await promisify(execFile)('bash', ['-c', curl], { env: { ...process.env, token } });
    expect(stdout).toContain('"environment":"production"');
  });
});
