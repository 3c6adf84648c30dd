import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

const GRACE_MS = 15_000;
const SIGNALS = ['SIGINT', 'SIGTERM'];

/** Ends everything that the run has started when it is interrupted; Jest itself leaves it running. */
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

/** Ends programs, shells and browsers that tests have started. Workers are halted meanwhile, so that they start no more. */
async function endPrograms() {
  const deadline = performance.now() + GRACE_MS;
  const told = new Set();
  for (;;) {
    const processes = descendants();
    const programs = processes.filter(({ isWorker }) => !isWorker);
    send(
      'SIGSTOP',
      processes.filter(({ isWorker }) => isWorker),
    );
    if (programs.length === 0 || performance.now() > deadline) return;
    // Once each: a second signal would cut short an orderly stop.
    send(
      'SIGTERM',
      programs.filter(({ pid }) => !told.has(pid)),
    );
    for (const { pid } of programs) told.add(pid);
    await pause(100);
  }
}

function descendants(of = process.pid) {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  const all = lines
    .map((line) => /(\d+)\s+(\d+)\s+([^Z]\S*)\s+(?!ps )(.*)/.exec(line))
    .filter(Boolean)
    .map(([, pid, parent, , args]) => ({
      pid: Number(pid),
      parent: Number(parent),
      isWorker: args.includes('jest-worker'),
    }));
  const below = (pid) =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  return below(of);
}

function send(signal, processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}
