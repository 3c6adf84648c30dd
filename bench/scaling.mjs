/** Two API processes on one PostgreSQL and Redis, against one: rate of operation 1, and whether its limit stays exact. */
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
const CALLS_PAST_THE_LIMIT = 700;

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
    console.error(`${one.at(-1).toFixed(0)}/s of one, ${two.at(-1).toFixed(0)}/s of two`);
  }
  await Promise.all(services.map((service) => service.stop()));

  const limited = [await bench.service(shared), await bench.service(shared)];
  const statuses = await Promise.all(
    Array.from({ length: CALLS_PAST_THE_LIMIT }, async (_, index) => {
      const { url, ...options } = request(limited[index % 2], 'production');
      const answer = await fetch(url, { method: 'POST', ...options });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  const accepted = statuses.filter((status) => status === 200).length;
  const middle = (rates) => rates.toSorted((left, right) => left - right)[ROUNDS >> 1];
  reportTable('scaling', {
    title: `Operation 1, ${CONNECTIONS} connections, by one and by two processes on one PostgreSQL and Redis, all on ${cpus().length} cores`,
    goal: 'scales with the cores there are; the limit stays exact',
    columns: ['what', 'one process', 'two processes', 'ratio'],
    rows: [
      [
        'requests, median',
        `${middle(one).toFixed(0)} /s`,
        `${middle(two).toFixed(0)} /s`,
        (middle(two) / middle(one)).toFixed(2),
      ],
      [`of ${CALLS_PAST_THE_LIMIT} calls at once, with a limit of 600`, '', `${accepted} answered 200`, ''],
    ],
  });
} finally {
  redis.kill('SIGTERM');
  if (redis.exitCode === null && redis.signalCode === null) await once(redis, 'exit');
  await bench.close();
}
