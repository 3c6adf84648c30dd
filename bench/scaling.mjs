/** Compares two API processes with one on the same PostgreSQL and Redis: the rate of operation 1, and its exact limit. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { load } from './support/load.mjs';
import { freePort } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 6);
const CONNECTIONS = 32;
const CONCURRENT_REQUESTS = 700;

const bench = await openWorkbench();
const redisPort = await freePort();
const redis = spawn('redis-server', ['--port', String(redisPort), '--save', '', '--bind', '127.0.0.1'], {
  stdio: 'ignore',
});
try {
  const shared = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, BACKGROUND_WORK: 'off' };
  const unlimited = { ...shared, MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000' };
  const services = [await bench.service(unlimited), await bench.service(unlimited)];
  const request = ({ baseUrl, credentials }, environment = 'development') => ({
    url: `${baseUrl}/mcp/tokens/create`,
    headers: { authorization: basic(credentials[environment]), 'content-type': 'application/json' },
    body: JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 }),
  });
  const run = async (of) => {
    const runs = await Promise.all(
      of.map((each) => load({ ...request(each), connections: CONNECTIONS / of.length, seconds: SECONDS })),
    );
    return runs.reduce((sum, { rate }) => sum + rate, 0);
  };
  await run(services);
  const one = [];
  const two = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await run(services.slice(0, 1)));
    two.push(await run(services));
    console.error(`${one.at(-1).toFixed(0)}/s with one process, ${two.at(-1).toFixed(0)}/s with two`);
  }
  await Promise.all(services.map((service) => service.stop()));

  const limited = [await bench.service(shared), await bench.service(shared)];
  const statuses = await Promise.all(
    Array.from({ length: CONCURRENT_REQUESTS }, async (_, index) => {
      const { url, ...options } = request(limited[index % 2], 'production');
      const response = await fetch(url, { method: 'POST', ...options });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  const accepted = statuses.filter((status) => status === 200).length;
  const median = (rates) => rates.toSorted((left, right) => left - right)[ROUNDS >> 1];
  reportTable('scaling', {
    title: `Operation 1, ${CONNECTIONS} connections, with one and two processes on one PostgreSQL and Redis, all on ${cpus().length} cores`,
    goal: 'scales with the available cores; the limit stays exact',
    columns: ['measurement', 'one process', 'two processes', 'ratio'],
    rows: [
      [
        'median rate',
        `${median(one).toFixed(0)} /s`,
        `${median(two).toFixed(0)} /s`,
        (median(two) / median(one)).toFixed(2),
      ],
      [`${CONCURRENT_REQUESTS} concurrent requests with a limit of 600`, '', `${accepted} succeeded`, ''],
    ],
  });
} finally {
  redis.kill('SIGTERM');
  if (redis.exitCode === null && redis.signalCode === null) await once(redis, 'exit');
  await bench.close();
}
