/** Measures the time and the memory of the first start with the embedded PostgreSQL. */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;

const runs = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  // PostgreSQL may run as another user, which must be able to enter the folder.
  chmodSync(directory, 0o755);
  const began = performance.now();
  const service = await start(MAIN, {
    environment: { DATA_DIR: join(directory, 'data'), PORT: String(await freePort()) },
    ready: 'Listening on',
  });
  const seconds = (performance.now() - began) / 1_000;
  await pause(2_000);
  runs.push({ seconds, service: megabytes([service.pid]), database: megabytes(descendants(directory)) });
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  console.error(runs.at(-1));
}
const median = (key) => runs.map((run) => run[key]).toSorted((left, right) => left - right)[ROUNDS >> 1];
reportTable('first-start', {
  title: 'First start with the embedded PostgreSQL, everything in one process',
  goal: 'ready within 10 s, at most 250 MB resident',
  columns: ['measurement', 'median'],
  rows: [
    ['time until ready', `${median('seconds').toFixed(1)} s`],
    ['memory of the service', `${median('service').toFixed(0)} MB`],
    ['memory of PostgreSQL (shared memory counted once)', `${median('database').toFixed(0)} MB`],
  ],
});

/** Returns the processes of the PostgreSQL server whose data are in the directory. */
function descendants(directory) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const servers = processes.filter((pid) => read(`/proc/${pid}/cmdline`).includes(directory));
  return processes.filter(
    (pid) =>
      servers.includes(pid) || servers.includes(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]),
  );
}

function megabytes(pids) {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
