import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { sendRequest } from './http-call.mjs';
import { basic } from './workbench.mjs';

/** Milliseconds to wait for a response. */
const TIMEOUT = 20_000;
const TOOL_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search_detected_accounts', arguments: { names: ['Netflix'] } },
});

/**
 * Sends requests as customers do: operations 1 and 5, sandbox events, occasionally a page of the request log, and calls of a tool.
 * Each request names its own user, by which its traces can be found (the calls name the one of their token), and is recorded in
 * `requests`.
 */
export function openMixedLoad({
  baseUrl,
  clients,
  developer,
  token,
  agent: agentToken,
  connections = Infinity,
}) {
  // Use the connections in turn, so that none is idle long enough to be closed.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
  const requests = [];
  let number = 0;

  async function send(kind, phase, { path, body, authorization, headers: more, message }) {
    const user = `${phase}-${(number += 1)}`;
    const done = { kind, phase, user, status: 0, at: Date.now() };
    requests.push(done);
    try {
      const { hostname: host, port } = new URL(baseUrl(number, kind));
      const content = message ?? (body && JSON.stringify({ external_user_id: user, ...body }));
      const headers = { authorization, ...(content && { 'content-type': 'application/json' }), ...more };
      const method = content ? 'POST' : 'GET';
      const options = { agent, host, port, method, path, headers, timeout: TIMEOUT };
      const response = await sendRequest(options, content);
      done.retryAfter = Number(response.headers['retry-after'] ?? 0);
      if (body) done.eventId = JSON.parse(response.body).event_id;
      done.status = response.status;
    } catch (error) {
      done.problem = error.message;
    }
    done.milliseconds = Date.now() - done.at;
    return done;
  }

  const kinds = {
    token: (phase) =>
      send('token', phase, {
        path: '/mcp/tokens/create',
        body: {},
        authorization: basic(clients[number % clients.length]),
      }),
    search: (phase) =>
      send('search', phase, {
        path: '/detected-accounts/search',
        body: { names: ['Netflix', 'DoorDash'] },
        authorization: basic(clients[number % clients.length]),
      }),
    event: (phase) =>
      send('event', phase, {
        path: '/development/webhooks/trigger',
        body: { event: 'CARD_UPDATED' },
        authorization: basic(developer),
      }),
    page: (phase) =>
      send('page', phase, {
        path: '/request-logs?environment=production&limit=10',
        authorization: `Bearer ${token()}`,
      }),
    agent: (phase) =>
      send('agent', phase, {
        path: '/mcp',
        authorization: `Bearer ${agentToken()}`,
        headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
        message: TOOL_CALL,
      }),
  };

  return {
    requests,
    kinds,
    close: () => agent.destroy(),
    /** Sends requests of each kind at the given rates per second until the work is done, and returns its result. */
    async during(phase, rates, work) {
      let isRunning = true;
      const inProgress = [];
      const streams = Object.entries(rates).map(async ([kind, rate]) => {
        const began = performance.now();
        for (let sent = 0; isRunning; sent += 1) {
          inProgress.push(kinds[kind](phase));
          await pause(began + ((sent + 1) * 1000) / rate - performance.now());
        }
      });
      try {
        return await work();
      } finally {
        isRunning = false;
        await Promise.all(streams);
        await Promise.all(inProgress);
      }
    },
  };
}
