import TestSequencer from '@jest/test-sequencer';

/** Seconds of the slowest files beside two others on two cores. Without them, Jest starts large files first. */
const SECONDS = {
  'hostile-bodies': 80,
  'webhooks-browser': 73,
  extending: 69,
  processes: 64,
  documents: 63,
  replicas: 61,
  'lost-connections': 54,
  'request-log-faults': 51,
  'account-browser': 48,
  'command-line': 46,
  'dashboard-layout': 40,
  'logs-browser': 37,
  'webhook-deliveries': 33,
  'single-sign-on': 32,
  fuzz: 31,
  'planted-values': 30,
  'request-log-commands': 30,
  'dashboard-pages': 29,
  'http-client-addresses': 29,
  'slow-clients': 28,
  'organization-browser': 26,
  commands: 25,
  'dashboard-journeys-browser': 25,
  'webhook-stream': 25,
  'webhook-recovery': 24,
  'clients-on-networks': 23,
  'documentation-browser': 23,
  'embedded-postgres': 23,
  'webhook-subscriptions': 22,
  'agent-login-kills': 20,
  'dashboard-browser': 20,
  'webhook-resends': 20,
  'http-client': 16,
  tracing: 12,
};
/** The approximate value for files that are not listed. */
const OTHER = 6;
/** As in jest.config.mjs. */
const WORKERS = 3;

/** Files that mostly wait. While one of them runs, two others keep both cores busy. */
const WAITING = new Set([
  'documents',
  'slow-clients',
  'webhook-deliveries',
  'webhook-resends',
  'webhook-subscriptions',
  'webhook-recovery',
  'http-client-addresses',
  'http-client',
  'webhook-stream',
  'tracing',
  'lost-connections',
]);

/** Starts slow files first, and a file that waits only when the one before has ended. */
export default class SlowFirstSequencer extends TestSequencer {
  sort(tests) {
    const slowFirst = super.sort(tests).toSorted((left, right) => secondsOf(right) - secondsOf(left));
    const waiting = slowFirst.filter((test) => WAITING.has(nameOf(test)));
    const busy = slowFirst.filter((test) => !WAITING.has(nameOf(test)));
    /** Seconds after which each worker, and the last file that waits, will have ended. */
    const workers = Array(WORKERS).fill(0);
    let waitingEnds = 0;
    return tests.map(() => {
      const worker = workers.indexOf(Math.min(...workers));
      const waits = waiting.length > 0 && (workers[worker] >= waitingEnds || busy.length === 0);
      const test = (waits ? waiting : busy).shift();
      workers[worker] += secondsOf(test) || OTHER;
      if (waits) waitingEnds = workers[worker];
      return test;
    });
  }
}

function secondsOf(test) {
  return SECONDS[nameOf(test)] ?? 0;
}

function nameOf({ path }) {
  return /\/test\/(?!architecture)\w+\/([\w-]+)\.spec\.ts$/.exec(path)?.[1] ?? '';
}
