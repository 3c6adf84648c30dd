import { RequestLogRollupsService } from '../../../src/modules/request-logs/index.js';
import { CREATE_MCP_TOKEN } from '../../support/documents/operations.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { useTestApp } from '../../support/test-app.js';
import { linkTo, visitorWithRole } from '../../support/pages/visitor.js';
import { eventually } from '../../support/eventually.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { WebhookStream } from '../../support/webhooks/webhook-stream.js';

const PATH = '/dashboard/development';
const DAY_IN_MINUTES = 24 * 60;
const ENDPOINT = 'https://hooks.example.com/merchants';

const service = useTestApp();

/** Returns the names and numbers at the top of the sections. */
function tilesOf(html: string): string[] {
  const tiles = [...html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)];
  return tiles.map(([, name, value = '']) => {
    const [now, before] = value.split('<span class="hint">').map((part) => part.replaceAll(/<[^>]+>/g, ''));
    return `${name}: ${now?.trim()}${before === undefined || /^(?:0|None) before/.test(before) ? '' : `, ${before}`}`;
  });
}

describe('The overview', () => {
  it('shows first steps to a new organization, and is where the dashboard begins', async () => {
    const { id, development } = await service.anotherOrganization();
    const visitor = await visitorWithRole(service, 'owner', id);
    expect((await visitor.get('/dashboard')).location).toBe(PATH);
    const { status, text } = await visitor.get(PATH);
    expect(status).toBe(200);
    for (const part of ['First steps', 'Make your first request', 'There were no requests in this period.'])
      expect(text).toContain(part);
    // The commands have the credentials of the organization, and the page notices by itself that they were run.
    expect(text).toContain(`-u '${development.clientId}:&lt;secret>'`);
    expect(text).toContain(`${service.baseUrl}/mcp/${development.clientId}</code>`);
    expect(text).toContain(`href="${PATH}/webhook-endpoints/new"`);
    expect(text).toContain('hx-trigger="every 5s"');
    expect((await visitor.get(`${PATH}?live=off`)).text).not.toContain('hx-trigger="every 5s"');
    // Viewers may do none of the steps.
    const viewer = await visitorWithRole(service, 'viewer', id);
    expect((await viewer.get(PATH)).text).not.toContain('First steps');
    expect((await visitor.get('/dashboard/staging')).status).toBe(404);
    // In production, they lead to the steps of the development environment.
    expect((await viewer.get('/dashboard/production')).text).not.toContain('First steps');
    const production = await visitor.get('/dashboard/production');
    expect(linkTo('first steps in the development environment', production.text)).toBe(PATH);
    // The browser remembers the environment.
    expect((await visitor.get('/dashboard')).location).toBe('/dashboard/production');
  });

  it('counts an event that a listener received as the first one', async () => {
    const { id, development } = await service.anotherOrganization();
    const visitor = await visitorWithRole(service, 'owner', id);
    const isDone = async (): Promise<boolean> =>
      /Done(?:<[^>]+>|\s)*Receive your first event/.test((await visitor.get(PATH)).text);
    const stream = await WebhookStream.open(service.baseUrl, development);
    expect(await isDone()).toBe(false);
    const event = {
      event: 'CARD_UPDATED',
      external_user_id: 'user-1',
      merchant_id: 16,
      data: { card_id: 'c' },
    };
    await service.request('/development/webhooks/trigger', { body: event, as: development });
    await stream.arrived(1);
    stream.close();
    await eventually('the log has the request of the listener', isDone);
    // The event itself is shown, and then the agent; with the fourth step, all of them disappear.
    expect((await visitor.get(PATH)).text).toMatch(/events\/[\w-]+">CARD_UPDATED<\/a>/);
    await service.database.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at,
                                     used_at, expires_at)
       VALUES (gen_random_uuid(), $1, 'user-1', 'a', 'Shopping Helper', 'helper.example', '{accounts:read}', now(), now(),
               now() + interval '1 day')`,
      [development.clientId],
    );
    expect((await visitor.get(PATH)).text).toMatch(/3 of 4 done.*Shopping Helper/s);
    const endpoint = { environment: 'development', url: ENDPOINT };
    await service.request('/webhook-endpoints/create', { body: endpoint, login: visitor.login });
    expect((await visitor.get(PATH)).text).not.toContain('First steps');
  });

  it('stays small with ten operations and ten endpoints, which all have a trend', async () => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorWithRole(service, 'owner', id);
    const [client] = await service.database.query<{ id: string }>(
      `SELECT id FROM api_client WHERE organization_id = $1 AND environment = 'production'`,
      [id],
    );
    const endpoints: string[] = [];
    for (let number = 0; number < 10; number++) {
      const url = `https://hooks-${number}.example.com/merchant-connectivity/webhooks`;
      const body = { environment: 'production', url };
      const created = await service.request('/webhook-endpoints/create', { body, login: owner.login });
      endpoints.push(String(created.body['id']));
    }
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
       SELECT $1, 'production', now() - n * interval '5 minute' - interval '1 minute', 'request', 'POST',
              '/operation/' || chr((97 + n % 10)::int),
              CASE WHEN n % 9 = 0 THEN 400 WHEN n % 7 = 0 THEN 503 WHEN n % 5 = 0 THEN 302 ELSE 200 END,
              10 + (n * 7919) % 880
         FROM generate_series(0, 2000) n`,
      [client?.id],
    );
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, url, status_code, latency_ms, event,
                                webhook_endpoint_id)
       SELECT client_id, environment, created_at, 'webhook', 'POST', 'https://hooks.example.com/',
              CASE WHEN status_code = 302 THEN 0 ELSE status_code END, latency_ms, 'CARD_UPDATED',
              ($2::uuid[])[1 + id % 10]
         FROM request_log WHERE client_id = $1 AND type = 'request'`,
      [client?.id, endpoints],
    );
    const trendsIn = (html: string, verb: string): number =>
      html.match(new RegExp(`aria-label="\\d+ ${verb}, \\d+ failed in this period"`, 'g'))?.length ?? 0;
    for (const [period, limit] of [
      ['1h', 54_000],
      ['24h', 70_000],
      ['7d', 76_000],
    ] as const) {
      const { text, size } = await owner.get(`/dashboard/production?period=${period}`);
      expect(size).toBeLessThan(limit);
      expect([trendsIn(text, 'succeeded'), trendsIn(text, 'delivered')]).toEqual([10, 10]);
    }
  });

  it('counts requests and deliveries of the client, and links to the failed ones', async () => {
    const send = async (body: object): Promise<void> => {
      const response = await service.request(CREATE_MCP_TOKEN.path, { body, as: service.development });
      if (response.body['token']) rememberSecret(String(response.body['token']));
    };
    for (const body of [CREATE_MCP_TOKEN.body, CREATE_MCP_TOKEN.body, {}]) await send(body);
    const owner = await service.login('owner');
    const endpoint = { environment: 'development', url: ENDPOINT };
    await service.request('/webhook-endpoints/create', { body: endpoint, login: owner });
    const visitor = await visitorWithRole(service, 'viewer');
    const { text, size } = await eventually('the overview counts three requests', async () => {
      const page = await visitor.get(PATH);
      return tilesOf(page.text)[0] === 'Requests: 3' ? page : undefined;
    });
    expect(tilesOf(text).slice(0, 2)).toEqual(['Requests: 3', 'Failed: 1 (33.3%)']);
    expect(text).toContain(
      'href="/dashboard/development/request-logs?outcome=failure&amp;type=request&amp;start=',
    );
    expect(text).toContain('<code>POST /mcp/tokens/create</code>');
    expect(text).toContain('aria-label="2 succeeded, 1 failed in this period"');
    expect(text).not.toContain('First steps');
    expect(size).toBeLessThan(60_000);
    // A row of the table of a chart leads to the requests that it counts.
    const [, bar = ''] = /<table class="figures">.*?<a href="([^"]+)"/s.exec(text) ?? [];
    const log = await visitor.get(bar.replaceAll('&amp;', '&'));
    expect(log.text.match(/<tr id="entry-/g)).toHaveLength(3);
    // The same from the rollups as from the log.
    await service.app.get(RequestLogRollupsService).update();
    const fromRollups = (await visitor.get(PATH)).text;
    expect(tilesOf(fromRollups)).toEqual(tilesOf(text));
    expect(fromRollups).toContain('aria-label="2 succeeded, 1 failed in this period"');
    expect(tilesOf((await visitor.get(`${PATH}?period=7d`)).text)[0]).toBe('Requests: 3');
    // Between two times, of which the end is in the past, also from the rollups.
    const at = (minutes: number): string =>
      new Date(Date.now() + minutes * MINUTE).toISOString().slice(0, 16);
    const between = async (start: string, end: string): Promise<string | undefined> =>
      tilesOf((await visitor.get(`${PATH}?start=${start}&end=${end}`)).text)[0];
    expect(await between(at(-60), at(1))).toBe('Requests: 3');
    expect(await between(at(-60), at(-30))).toBe('Requests: 0');
    // The numbers lead to the entries, and the period before is beside them.
    expect(text).toMatch(/request-logs\?type=request&amp;start=[^"]+">3</);
    expect(await between(at(10), at(70))).toBe('Requests: 0, 3 before');
    expect(await between(at(-6 * DAY_IN_MINUTES), at(1))).toBe('Requests: 3');
    // The overview of a whole week begins before it, with a whole hour. The log shows at most a week.
    const week = await visitor.get(`${PATH}?start=${at(1 - 7 * DAY_IN_MINUTES)}&end=${at(1)}`);
    const [, failures = ''] = /<a href="([^"]+outcome=failure[^"]+)">1 \(33/.exec(week.text) ?? [];
    expect((await visitor.get(failures.replaceAll('&amp;', '&'))).text).toContain('<tr id="entry-');
    const rejected = await visitor.get(`${PATH}?start=${at(-8 * DAY_IN_MINUTES)}&end=${at(0)}`);
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('at most 7 days');
    // Nothing of it in the other environment.
    expect(tilesOf((await visitor.get('/dashboard/production')).text)[0]).toBe('Requests: 0');
  });
});

describe('The operations of the overview', () => {
  it('lead to their requests in the same period, and to those that failed', async () => {
    const { id } = await service.anotherOrganization();
    const viewer = await visitorWithRole(service, 'viewer', id);
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
       SELECT client.id, environment, now() - hours * interval '1 hour', 'request', method, path, status, 1
         FROM api_client client,
              (VALUES (1, 'GET', '/things/7', 200), (2, 'GET', '/things/0B61F5C4-2f0e-4f43-9b1d-2f6f0a1f9c55', 404),
                      (3, 'GET', '/things', 200), (4, 'GET', '/things/7/parts', 200), (5, 'PUT', '/things/7', 200),
                      (100, 'GET', '/things/8', 500)) entry (hours, method, path, status)
        WHERE organization_id = $1`,
      [id],
    );
    // Other tests may have had the entries of this time counted before.
    await service.app.get(RequestLogRollupsService).rebuild({});
    const entriesAt = async (path = ''): Promise<string[]> => {
      const { status, text } = await viewer.get(path.replaceAll('&amp;', '&'));
      expect(status).toBe(200);
      return [...text.matchAll(/<td [^>]*class="main"><a [^>]*>(.*?)<\/a>/g)].map(([, name = '']) =>
        name.replaceAll(/<[^>]+>/g, ''),
      );
    };
    for (const [period, all, failed] of [
      ['24h', 2, 1],
      ['7d', 3, 2],
    ] as const) {
      const { text } = await viewer.get(`${PATH}?period=${period}`);
      const [, row = ''] = /<a href="([^"]+"><code>GET \/things\/{id}<.*?)<\/tr>/s.exec(text) ?? [];
      const [operation, total, failures] = [...`href="${row}`.matchAll(/href="([^"]+)"/g)].map(
        ([, to]) => to,
      );
      expect(total).toBe(operation);
      const requests = ['GET /things/7', 'GET /things/0B61F5C4-2f0e-4f43-9b1d-2f6f0a1f9c55', 'GET /things/8'];
      expect(await entriesAt(operation)).toEqual(requests.slice(0, all));
      expect(await entriesAt(failures)).toEqual(requests.slice(1, 1 + failed));
      // The filter is a field of the list, and its bars count the same requests.
      const log = (await viewer.get(operation?.replaceAll('&amp;', '&') ?? '')).text;
      expect(log).toContain('value="GET /things/{id}"');
      expect(log).toContain('class="histogram"');
    }
    const { text } = await viewer.get(`${PATH}/request-logs?operation=GET+/things&type=webhook`);
    expect(text).toContain('No entries match these filters');
    expect(await entriesAt(`${PATH}/request-logs?operation=GET+/things/`)).toEqual([]);
  });
});

describe('The trends of a list', () => {
  it('are left out while the overview of another organization waits', async () => {
    const slow = await visitorWithRole(service, 'viewer', (await service.anotherOrganization()).id);
    const owner = await visitorWithRole(service, 'owner');
    const url = 'https://other.example.com/hooks';
    await service.request('/webhook-endpoints/create', {
      body: { environment: 'production', url },
      login: owner.login,
    });
    const path = '/dashboard/production/webhook-endpoints';
    await whileLogIsLocked(
      service.database,
      async () => {
        let isDone = false;
        const overview = slow.get(PATH).finally(() => (isDone = true));
        await eventually('the overview waits', async () => {
          const waiting = await service.database.query(
            `SELECT FROM pg_stat_activity WHERE application_name LIKE '%request-log-overview' AND wait_event_type = 'Lock'`,
          );
          return waiting.length > 0 || undefined;
        });
        const { status, text } = await owner.get(path);
        expect(isDone).toBe(false);
        const hasUrl = text.replaceAll(/<[^>]+>/g, '').includes(url);
        expect([status, hasUrl, text.includes('Not available')]).toEqual([200, true, true]);
        expect((await overview).status).toBe(504);
      },
      'request_log_rollup IN ACCESS EXCLUSIVE MODE',
    );
    const { text } = await owner.get(path);
    expect(text).toContain('aria-label="0 delivered, 0 failed in the last 24 hours"');
  });
});
