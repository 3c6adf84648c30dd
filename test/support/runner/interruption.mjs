import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

const GRACE_MS = 15_000;
const SIGNALS = ['SIGINT', 'SIGTERM'];

/** When the run is interrupted, ends all processes that it started, which Jest does not do. */
export function onInterruption(teardown) {
  const handle = async () => {
    // The signal may come twice: from the terminal to the process group, and forwarded by npm.
    for (const signal of SIGNALS) process.off(signal, handle).on(signal, () => undefined);
    await endPrograms();
    await teardown();
    send('SIGKILL', descendants());
    process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, handle);
}

/** Ends programs, shells and browsers that tests have started. Workers are paused, so that they start no others. */
async function endPrograms() {
  const deadline = performance.now() + GRACE_MS;
  const signaled = new Set();
  for (;;) {
    const processes = descendants();
    const programs = processes.filter(({ isWorker }) => !isWorker);
    const workers = processes.filter(({ isWorker }) => isWorker);
    send('SIGSTOP', workers);
    if (programs.length === 0 || performance.now() > deadline) return;
    for (const program of programs.filter(({ pid }) => !signaled.has(pid))) {
      // Send only one signal: a second one would end the program before it has stopped its own processes.
      send('SIGTERM', [program]);
      signaled.add(program.pid);
    }
    await pause(100);
  }
}

function descendants() {
  const all = execFileSync('ps', ['-Aww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state, program]) => !state?.startsWith('Z') && program !== 'ps')
    .map(([pid, parent, , ...args]) => ({
      pid: Number(pid),
      parent: Number(parent),
      isWorker: args.some((text) => text.includes('jest-worker')),
    }));
  const below = (pid) =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  return below(process.pid);
}

function send(signal, processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended in the meantime.
    }
  }
}
