import { join } from 'node:path';
import { freePort, start } from './processes.mjs';

const BUILD = new URL('../../dist', import.meta.url).pathname;
const CLOCK = new URL('shifted-clock.mjs', import.meta.url).href;

/**
 * Starts the processes of a deployment: workers, and API processes that join the load balancer if there is one.
 *
 * @param build the build of the service, if it is another one
 */
export function openFleet(settings, balancer, build = BUILD) {
  const running = new Set();
  const all = [];
  const crashes = [];

  async function launch(program, name, { ready, environment, clockAhead }) {
    let output = '';
    const child = await start(program, {
      environment: {
        ...settings,
        METRICS_PORT: '0',
        ...environment,
        ...(clockAhead && { NODE_OPTIONS: `--import=${CLOCK}?seconds=${clockAhead}` }),
      },
      ready,
      onOutput: (text) => (output += text),
    });
    const member = {
      ...child,
      name: `${name} ${all.length + 1}`,
      metricsUrl: /Metrics: ([^\s"]+)/.exec(output)?.[1],
      /** Returns the log lines of the process. */
      lines: () =>
        output
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line)),
      /** Stops the process and returns its exit code. */
      async stop(signal = 'SIGTERM') {
        isStopped = true;
        child.kill(signal);
        const [code] = await child.ended;
        running.delete(member);
        if (member.baseUrl) balancer?.remove(member.baseUrl);
        return code;
      },
    };
    let isStopped = false;
    void child.ended.then(([code, signal]) => {
      if (!isStopped) crashes.push(`${member.name} exited with ${code ?? signal}: ${output.slice(-2_000)}`);
    });
    running.add(member);
    all.push(member);
    return member;
  }

  const lines = () => all.flatMap((member) => member.lines());

  return {
    async api(options = {}) {
      const port = await freePort();
      const environment = { PORT: String(port), BACKGROUND_WORK: 'off', ...options.environment };
      const member = await launch(join(build, 'src/main.js'), 'API', {
        ready: 'Listening on',
        ...options,
        environment,
      });
      member.baseUrl = `http://127.0.0.1:${port}`;
      await balancer?.add(member.baseUrl);
      return member;
    },
    worker: (options = {}) =>
      launch(join(build, 'src/worker.js'), 'worker', { ready: 'The background work is running', ...options }),
    lines,
    /** Processes that exited unexpectedly, with their last output. */
    crashes,
    /** Returns all log messages with the number of their occurrences. */
    messages() {
      const counts = new Map();
      for (const { level, message } of lines())
        counts.set(`${level}: ${message}`, (counts.get(`${level}: ${message}`) ?? 0) + 1);
      return [...counts].toSorted(([, left], [, right]) => right - left);
    },
    async close() {
      await Promise.all([...running].map((member) => member.stop()));
    },
  };
}

/** Reads `/metrics` of a process. The returned function sums a metric over all labels that it does not filter by. */
export async function metricsOf({ metricsUrl }) {
  const text = await (await fetch(metricsUrl)).text();
  const samples = text
    .split('\n')
    .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line))
    .filter(Boolean);
  return (name, label = '') =>
    samples
      .filter(([, found, labels = '']) => found === name && labels.includes(label))
      .reduce((sum, [, , , value]) => sum + Number(value), 0);
}
