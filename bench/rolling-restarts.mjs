/**
 * Restarts two API processes in turn behind nginx, which notices only a closed port, and behind HAProxy, which asks `/readyz`. Neither
 * resends a POST request. A few clients send such requests, so that connections of the proxy are idle for most of the time.
 *
 * `node bench/rolling-restarts.mjs --restarts 20`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sendRequest } from './support/http-call.mjs';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '20' },
    /** More than HAProxy needs to notice: two failed checks, 500 ms apart. */
    delay: { type: 'string', default: '2000' },
    keep: { type: 'boolean', default: false },
  },
});
const restarts = Number(values.restarts);
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const CLIENTS = 12;

const bench = await openWorkbench();
const first = await bench.service();
await first.stop();
const authorization = basic(first.credentials.development);

const PROXIES = {
  nginx: (port, members) => ({
    command: '/usr/sbin/nginx',
    file: 'nginx.conf',
    parameters: (file) => ['-e', join(bench.directory, 'nginx-error.log'), '-c', file],
    configuration: `daemon off; worker_processes 1; pid ${bench.directory}/nginx.pid; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${bench.directory}/${kind};`).join(' ')}
  upstream service { ${members.map((member) => `server 127.0.0.1:${member};`).join(' ')} keepalive 32; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1; proxy_set_header Connection ""; proxy_next_upstream error timeout;
    location / { proxy_pass http://service; }
  }
}`,
  }),
  HAProxy: (port, members) => ({
    command: '/usr/sbin/haproxy',
    file: 'haproxy.cfg',
    parameters: (file) => ['-db', '-f', file],
    configuration: `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen service
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
${members.map((member) => `  server s${member} 127.0.0.1:${member} check inter 500 fall 2 rise 1`).join('\n')}
`,
  }),
};

async function isListening(port) {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}

/** The processes that run, in turn restarted. */
const services = [];

/** @returns how many requests were sent, and the responses that the service did not give */
async function measure(name) {
  const ports = [await freePort(), await freePort()];
  const startService = (port) =>
    start(MAIN, {
      environment: {
        ...first.settings,
        LOG_LEVEL: 'error',
        PORT: String(port),
        SHUTDOWN_DELAY_MS: values.delay,
        TRUSTED_PROXY_HOPS: '1',
      },
      ready: 'Listening on',
    });
  for (const port of ports) services.push(await startService(port));
  const port = await freePort();
  const { command, file, parameters, configuration } = PROXIES[name](port, ports);
  const path = join(bench.directory, file);
  writeFileSync(path, configuration);
  const proxy = spawn(command, parameters(path), { stdio: 'ignore' });
  while (!(await isListening(port))) await pause(50);
  await pause(2_000);

  const lost = [];
  let sent = 0;
  let isOver = false;
  const agent = new Agent({ keepAlive: true });
  const client = async () => {
    while (!isOver) {
      sent += 1;
      const options = {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: '/session/open',
        headers: { authorization, 'content-type': 'application/json' },
      };
      await sendRequest(options, '{}').then(
        ({ status, body }) => status >= 500 && lost.push(`${status} ${body.toString().slice(0, 100)}`),
        (error) => lost.push(error.message),
      );
      // From many at once to one in a second.
      await pause(Math.random() < 0.1 ? 1_000 * Math.random() : 30 * Math.random());
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  for (let restart = 0; restart < restarts; restart += 1) {
    const index = restart % 2;
    await services[index].stop();
    services[index] = await startService(ports[index]);
    // nginx does not use a process for 10 s after it was down.
    await pause(name === 'nginx' ? 11_000 : 1_500);
  }
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  proxy.kill();
  await once(proxy, 'exit');
  for (const service of services.splice(0)) await service.stop();
  for (const each of new Set(lost)) console.log(`${name}: ${each}`);
  return [name, restarts, sent, lost.length];
}

try {
  const rows = [];
  for (const name of Object.keys(PROXIES)) rows.push(await measure(name));
  reportTable('rolling-restarts', {
    title: 'Rolling restarts behind nginx and HAProxy',
    goal: 'no lost request',
    columns: ['proxy', 'restarts', 'POST requests', 'lost'],
    rows,
    keep: values.keep,
  });
  if (rows.some(([, , , lost]) => lost > 0)) process.exitCode = 1;
} finally {
  await Promise.all(services.map((service) => service.stop()));
  await bench.close();
}
