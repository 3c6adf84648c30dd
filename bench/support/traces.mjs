import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds without progress: two leases of interrupted attempts, and the retries after them. */
const TIMEOUT = 75_000;

/**
 * Waits until every successful request has left its traces: the token, the request log entry, and the event at every
 * endpoint. Returns a message for each trace that is still missing when there is no more progress.
 */
export async function tracesOf(requests, webhooks) {
  const events = requests.filter(({ eventId }) => eventId !== undefined);
  let least = Infinity;
  let until = 0;
  for (;;) {
    const arrived = webhooks.ports.map((port) => countsOf(webhooks.arrivals(port)));
    const lost = [
      ...(await without(requests, 'token', webhooks, 'SELECT external_user_id FROM mcp_token WHERE')),
      ...(await without(
        requests.filter(({ kind }) => kind !== 'page' && kind !== 'agent'),
        undefined,
        webhooks,
        `SELECT external_user_id FROM request_log WHERE type = 'request' AND status_code = 200 AND`,
      )),
      ...events.flatMap(({ eventId }) =>
        arrived.flatMap((counts, index) =>
          counts.has(eventId) ? [] : [`event ${eventId} did not arrive at endpoint ${index}`],
        ),
      ),
    ];
    if (lost.length < least) [least, until] = [lost.length, Date.now() + TIMEOUT];
    if (lost.length === 0 || Date.now() > until) {
      const times = events.flatMap(({ eventId }) => arrived.map((counts) => counts.get(eventId) ?? 0));
      return {
        events: events.length,
        lost,
        twice: times.filter((count) => count > 1).length,
      };
    }
    await pause(500);
  }
}

/** Returns the requests of a kind (or of all kinds) whose user the statement does not find. */
async function without(requests, kind, webhooks, statement) {
  const asked = requests.filter((request) => kind === undefined || request.kind === kind);
  const { rows } = await webhooks.query(`${statement} external_user_id = ANY($1)`, [
    asked.map(({ user }) => user),
  ]);
  const found = new Set(rows.map(({ external_user_id: user }) => user));
  return asked
    .filter(({ user }) => !found.has(user))
    .map(
      ({ kind: what, user, milliseconds }) =>
        `${user} (${what}, ${milliseconds} ms) has no ${kind ?? 'request log entry'}`,
    );
}

function countsOf(arrivals) {
  const counts = new Map();
  for (const { eventId } of arrivals) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  return counts;
}
