/**
 * Measures the latency of GET /merchant-accounts while sign-ins wait for a merchant gateway that hangs, compared with the latency
 * while nobody signs in. There are more sign-ins than connections to the gateway, so that some wait for a connection too.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { latenciesOf, percentile } from './support/load.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const SIGN_INS = 100;
/** That the service has to the gateway. */
const CONNECTIONS = 64;
/** Each sign-in link accepts five attempts. */
const ROUNDS = Math.min(5, Number(process.env.ROUNDS ?? 4));
/** Shorter than the 30 seconds that the service waits for the gateway. */
const SECONDS = 10;
/** Requests per second. */
const RATE = 100;
/** ID of a merchant of the bundled catalog. */
const NETFLIX = 16;

const gateway = await startHangingGateway();
const bench = await openWorkbench();
try {
  const service = await bench.service({
    MERCHANT_GATEWAY_URL: gateway.url,
    MERCHANT_GATEWAY_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  });
  const authorization = basic(service.credentials.production);
  const forms = await formsOfLinks(service, authorization);
  const request = {
    url: `${service.baseUrl}/merchant-accounts?external_user_id=other`,
    method: 'GET',
    headers: { authorization },
  };
  const measure = () => latenciesOf(request, { rate: RATE, seconds: SECONDS });
  const sides = { 'nobody signs in': [], [`${SIGN_INS} sign-ins hang`]: [] };
  const [quiet, hanging] = Object.values(sides);
  await measure();
  for (let round = 1; round <= ROUNDS; round += 1) {
    quiet.push(await measure());
    const submitted = forms.map((submit) => submit());
    await gateway.isFull();
    hanging.push(await measure());
    gateway.release();
    const statuses = await Promise.all(submitted);
    if (statuses.some((status) => status !== 400 && status !== 303))
      throw new Error(`The gateway refused, but the forms got ${statuses}`);
  }
  const ratios = hanging.map((each, round) => percentile(each, 0.95) / percentile(quiet[round], 0.95));
  reportTable('hanging-gateway', {
    title: `GET /merchant-accounts at ${RATE}/s while sign-ins wait for a gateway that hangs`,
    goal: 'p95 ratio (median of the rounds) below 1.2',
    columns: ['meanwhile', 'p50', 'p95', 'p99', 'p95 ratio'],
    rows: Object.entries(sides).map(([label, rounds]) => [
      label,
      ...[0.5, 0.95, 0.99].map((share) => `${percentile(rounds.flat(), share).toFixed(1)} ms`),
      rounds === hanging ? percentile(ratios, 0.5).toFixed(2) : '',
    ]),
  });
} finally {
  await bench.close();
  gateway.close();
}

/** Publishes a key, and responds to sign-ins only when it is released. */
async function startHangingGateway() {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] });
  const waiting = new Set();
  const server = createServer((request, response) => {
    if (request.url === '/keys') response.end(keys);
    else request.resume().on('end', () => waiting.add(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let isHanging = true;
  const release = () => {
    for (const response of waiting) response.end('{"outcome":"refused"}');
    waiting.clear();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Resolves when no more requests can arrive. */
    async isFull() {
      isHanging = true;
      while (waiting.size < CONNECTIONS) await pause(10);
      // The other forms have been read too.
      await pause(500);
    },
    release() {
      isHanging = false;
      const releasing = setInterval(() => (isHanging ? clearInterval(releasing) : release()), 10);
      releasing.unref();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Creates a sign-in link for each user. @returns functions that submit wrong credentials, and return the status */
async function formsOfLinks({ baseUrl, dataDirectory }, authorization) {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  for (let index = 0; index < SIGN_INS; index += 1) {
    const created = await fetch(`${baseUrl}/mcp/tokens/create`, {
      method: 'POST',
      headers: { ...json, authorization },
      body: JSON.stringify({
        external_user_id: `user-${index}`,
        phone_number: `+1212555${String(1_000 + index)}`,
      }),
    });
    const { token } = await created.json();
    const call = { name: 'create_sign_in_link', arguments: { merchant_id: NETFLIX } };
    const response = await fetch(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}`, 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    });
    const text = await response.text();
    if (!text.includes('"status":"pending"')) throw new Error(`No link was created: ${text}`);
  }
  const messages = join(dataDirectory, 'messages');
  const paths = readdirSync(messages).map(
    (file) => /\/sign-in\/\w+/.exec(readFileSync(join(messages, file), 'utf8'))[0],
  );
  return Promise.all(
    paths.map(async (path) => {
      const page = await fetch(baseUrl + path);
      const cookie = page.headers
        .getSetCookie()
        .map((each) => each.split(';')[0])
        .join('; ');
      const [, form_token] = /name="form_token" value="([\w-]+)"/.exec(await page.text());
      const body = new URLSearchParams({ form_token, action: 'sign_in', user_name: 'a', password: 'wrong' });
      return async () => {
        const response = await fetch(baseUrl + path, {
          method: 'POST',
          redirect: 'manual',
          headers: { cookie },
          body,
        });
        await response.arrayBuffer();
        return response.status;
      };
    }),
  );
}
