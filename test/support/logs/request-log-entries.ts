import { randomUUID } from 'node:crypto';
import type { AttributedClient } from '../../../src/infrastructure/http/index.js';
import { RequestLogRepository, type NewRequestLogEntry } from '../../../src/modules/request-logs/index.js';
import { eventually } from '../eventually.js';
import type { TestApp, TestResponse } from '../test-app.js';

export type EntryChange = Partial<NewRequestLogEntry> & Pick<NewRequestLogEntry, 'createdAt'>;

/** Returns an entry of an API request of a client. */
export function loggedRequest(
  { clientId, environment }: AttributedClient,
  change: EntryChange,
): NewRequestLogEntry {
  return {
    clientId,
    environment,
    type: 'request',
    method: 'POST',
    path: '/mcp/tokens/create',
    url: null,
    event: null,
    statusCode: 200,
    latencyMilliseconds: 12,
    sessionId: null,
    taskId: null,
    externalUserId: null,
    tool: null,
    agent: null,
    errorCode: null,
    errorMessage: null,
    requestId: null,
    ...change,
  };
}

/** Returns an entry of a failed webhook delivery attempt of a client. */
export function loggedAttempt(client: AttributedClient, change: EntryChange): NewRequestLogEntry {
  return loggedRequest(client, {
    type: 'webhook',
    path: null,
    url: 'https://hooks.example.com/merchants?token=***',
    event: 'CARD_UPDATED',
    statusCode: 503,
    latencyMilliseconds: 84,
    sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
    taskId: 25_605,
    externalUserId: 'user-1',
    attempt: {
      endpointId: randomUUID(),
      eventId: randomUUID(),
      number: 2,
      reason: 'NON_200',
      phases: { dns: 1, connect: 11, tls: null, firstByte: 48 },
    },
    ...change,
  });
}

/** Writes entries to the log. */
export async function fillRequestLog(
  service: TestApp,
  entries: readonly NewRequestLogEntry[],
): Promise<void> {
  await service.app.get(RequestLogRepository).append(entries);
}

/** Waits until the log has the entry of a request: if the database is slow, the response comes first. */
export const requestIsLogged = (
  { database }: Pick<TestApp, 'database'>,
  { headers }: Pick<TestResponse, 'headers'>,
): Promise<boolean> =>
  eventually('the request is in the log', async () => {
    const id = headers.get('x-request-id');
    return (await database.query('SELECT FROM request_log WHERE request_id = $1', [id])).length > 0;
  });
