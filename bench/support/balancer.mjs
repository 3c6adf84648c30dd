import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { bytesOf, sendRequest } from './http-call.mjs';

/** Milliseconds. */
const CHECK_INTERVAL = 500;
const CHECK_TIMEOUT = 1_000;
const RESPONSE_TIMEOUT = 15_000;
const MAX_ATTEMPTS = 3;
const BACKOFF = 50;
/** Headers that apply to a single connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * Starts a load balancer like those used in production. It sends requests in turn to the processes whose `/readyz`
 * responds 200, keeps connections open, and resends a request without a response, or with 502 or 503, at most twice.
 */
export async function startBalancer() {
  let members = [];
  let turn = 0;
  const counts = { retried: 0, unavailable: 0, cutOff: 0 };
  const retries = [];

  const checking = setInterval(() => void Promise.all(members.map(check)), CHECK_INTERVAL);

  function next(last) {
    const ready = members.filter(({ isReady }) => isReady);
    // If none is ready according to the last check, try any of them.
    const choice = ready.length > 0 ? ready : members;
    const others = choice.filter((member) => member !== last);
    const from = others.length > 0 ? others : choice;
    turn += 1;
    return from[turn % from.length];
  }

  async function forward(request) {
    const body = await bytesOf(request);
    const forwarded = { ...endToEnd(request.headers), 'x-forwarded-for': request.socket.remoteAddress };
    let last;
    for (let attempt = 1; ; attempt += 1) {
      last = next(last);
      let result;
      try {
        if (last === undefined) throw new Error('There is no process to forward to.');
        const { method, url: path } = request;
        const { host: to, port, agent } = last;
        const options = {
          host: to,
          port,
          agent,
          method,
          path,
          headers: forwarded,
          timeout: RESPONSE_TIMEOUT,
        };
        result = await sendRequest(options, body);
      } catch (error) {
        counts.cutOff += 1;
        if (last && error.code === 'ECONNREFUSED') last.isReady = false;
        result = { status: 502, headers: {}, body: Buffer.from(error.message) };
      }
      if (result.status === 503) counts.unavailable += 1;
      if ((result.status !== 502 && result.status !== 503) || attempt === MAX_ATTEMPTS) return result;
      counts.retried += 1;
      retries.push(`${request.url}: ${result.status} ${result.body.toString().slice(0, 200)}`);
      await pause(BACKOFF * attempt);
    }
  }

  const server = createServer((request, response) => {
    forward(request).then(({ status, headers, body }) => {
      response.writeHead(status, endToEnd(headers)).end(body);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    counts,
    /** The reason of each retry. */
    retries,
    /** Resolves when the process is ready. */
    async add(baseUrl) {
      const { hostname: host, port } = new URL(baseUrl);
      const member = { baseUrl, host, port, isReady: false, agent: new Agent({ keepAlive: true }) };
      members.push(member);
      while (!member.isReady) {
        await check(member);
        if (!member.isReady) await pause(50);
      }
    },
    remove(baseUrl) {
      for (const { agent } of members.filter((member) => member.baseUrl === baseUrl)) agent.destroy();
      members = members.filter((member) => member.baseUrl !== baseUrl);
    },
    close() {
      clearInterval(checking);
      for (const { agent } of members) agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function check(member) {
  try {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT);
    const response = await fetch(`${member.baseUrl}/readyz`, { signal });
    await response.arrayBuffer();
    member.isReady = response.status === 200;
  } catch {
    member.isReady = false;
  }
}

function endToEnd(headers) {
  const kept = { ...headers };
  for (const name of HOP_BY_HOP) delete kept[name];
  return kept;
}
