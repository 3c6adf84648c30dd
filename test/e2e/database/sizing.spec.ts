import { randomUUID } from 'node:crypto';
import { BYTES_PER_ROW } from '../../../src/cli/sizing.js';
import type { AuthenticatedClient } from '../../../src/infrastructure/auth/index.js';
import { McpTokensService } from '../../../src/modules/mcp-tokens/index.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../../support/logs/request-log-entries.js';
import { useTestApp } from '../../support/test-app.js';

const ROWS = 4_000;
const ROWS_PER_STATEMENT = 500;

const service = useTestApp();
let client: AuthenticatedClient;

beforeAll(async () => {
  const { organizationId, production } = service;
  const { clientId } = production;
  client = { clientId, organizationId, environment: 'production', enabledOperations: new Set() };
});

/** Returns the bytes per row by which a table and its partitions grow, with their indexes. */
async function growthOf(table: string, write: (index: number) => Promise<unknown>): Promise<number> {
  const before = await bytesOf(table);
  for (let index = 0; index < ROWS; index += ROWS_PER_STATEMENT) await write(index);
  return ((await bytesOf(table)) - before) / ROWS;
}

async function bytesOf(table: string): Promise<number> {
  const [{ bytes } = { bytes: '0' }] = await service.database.query<{ bytes: string }>(
    `SELECT coalesce(sum(pg_total_relation_size(relid)), 0) AS bytes FROM pg_partition_tree('${table}')`,
  );
  return Number(bytes);
}

/** Each partition has indexes with empty pages at first, and indexes fill up differently. */
function expectAbout(actual: number, expected: number): void {
  expect(actual).toBeGreaterThan(expected * 0.7);
  expect(actual).toBeLessThan(expected * 1.3);
}

const rows = Array.from({ length: ROWS_PER_STATEMENT }, (_, index) => index);
const randomUser = (): string => `user-${Math.floor(Math.random() * 1e6)}`;

describe('The sizing calculator knows the bytes', () => {
  it('of an API request in the request log', async () => {
    const write = (): Promise<void> =>
      fillRequestLog(
        service,
        rows.map(() => loggedRequest(client, { createdAt: new Date(), externalUserId: randomUser() })),
      );
    expectAbout(await growthOf('request_log', write), BYTES_PER_ROW.request);
  });

  it('of a delivery attempt in the request log', async () => {
    const write = (first: number): Promise<void> =>
      fillRequestLog(
        service,
        rows.map((row) =>
          loggedAttempt(client, {
            createdAt: new Date(),
            statusCode: 200,
            sessionId: randomUUID(),
            taskId: first + row,
            externalUserId: randomUser(),
          }),
        ),
      );
    expectAbout(await growthOf('request_log', write), BYTES_PER_ROW.attempt);
  });

  it('of an event', async () => {
    const publisher = service.app.get(WebhookPublisher);
    const write = (): Promise<unknown> =>
      Promise.all(
        rows.map(() =>
          publisher.publish(client, {
            event: 'CARD_UPDATED',
            sessionId: randomUUID(),
            taskId: 25_605,
            externalUserId: randomUser(),
            merchant: { id: 16, name: 'Netflix' },
            data: { card_id: '81n9al10a0ayn13' },
          }),
        ),
      );
    expectAbout(await growthOf('webhook_event', write), BYTES_PER_ROW.event);
  });

  it('of an MCP token', async () => {
    const tokens = service.app.get(McpTokensService);
    const write = (): Promise<unknown> =>
      Promise.all(
        rows.map(() => tokens.create(client, { external_user_id: randomUser(), expires_in: 3_600 })),
      );
    expectAbout(await growthOf('mcp_token', write), BYTES_PER_ROW.token);
  });
});
