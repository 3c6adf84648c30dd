/**
 * Sends requests at a constant rate while `mcs logs tail` follows the request log, which must show each entry exactly once.
 *
 * `node bench/log-tail.mjs --rate 200 --seconds 60`
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCommand } from './support/command-line.mjs';
import { accessToken } from './support/dashboard-login.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '200' }, seconds: { type: 'string', default: '60' } },
});
const [rate, seconds] = [values.rate, values.seconds].map(Number);
/** Milliseconds without a further entry. */
const TIMEOUT = 60_000;

const bench = await openWorkbench();
const service = await bench.service({ LOG_LEVEL: 'error', MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000' });
const { baseUrl, credentials } = service;
const headers = { authorization: basic(credentials.development), 'content-type': 'application/json' };

async function request(user) {
  const body = JSON.stringify({ external_user_id: user });
  const response = await fetch(`${baseUrl}/mcp/tokens/create`, { method: 'POST', headers, body });
  await response.arrayBuffer();
}

const tail = startCommand(['logs', 'tail', '--lines', '0', '--type', 'request'], {
  MCS_BASE_URL: baseUrl,
  MCS_ACCESS_TOKEN: await accessToken({ baseUrl, credentials }, 'development', 'request_logs:read'),
});
try {
  while (tail.results.length === 0) {
    await request('begun');
    await pause(200);
  }
  const users = Array.from({ length: rate * seconds }, (_, index) => `user-${index}`);
  const began = performance.now();
  const sent = [];
  for (const [index, user] of users.entries()) {
    const early = began + (index * 1000) / rate - performance.now();
    if (early > 0) await pause(early);
    sent.push(request(user));
  }
  await Promise.all(sent);
  const took = (performance.now() - began) / 1000;
  const shown = () =>
    tail.results.map((entry) => entry.external_user_id).filter((user) => user?.startsWith('user-'));
  const ended = performance.now();
  let until = Date.now() + TIMEOUT;
  for (let before = -1; shown().length < users.length && Date.now() < until; await pause(200)) {
    if (shown().length > before) until = Date.now() + TIMEOUT;
    before = shown().length;
  }
  const behind = (performance.now() - ended) / 1000;
  await pause(5_000);
  const found = new Set(shown());
  const missing = users.length - found.size;
  const twice = shown().length - found.size;
  reportTable('log-tail', {
    title: 'Entries that `mcs logs tail` shows beside steady load',
    goal: 'each entry exactly once',
    columns: ['requests', 'rate', 'missing', 'shown twice', 'last entry shown after the last request'],
    rows: [[users.length, `${Math.round(users.length / took)} /s`, missing, twice, `${behind.toFixed(1)} s`]],
  });
  if (tail.progress !== '') console.error(tail.progress);
  if (missing > 0 || twice > 0) process.exitCode = 1;
} finally {
  await tail.stop();
  await bench.close();
}
