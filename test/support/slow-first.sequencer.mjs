import TestSequencer from '@jest/test-sequencer';

/** Seconds of the slowest files beside two others on two cores. Without them, Jest starts large files first. */
const SECONDS = {
  documents: 85,
  extending: 66,
  'command-line': 66,
  'webhooks-browser': 58,
  'lost-connections': 55,
  'account-browser': 51,
  processes: 50,
  'hostile-bodies': 48,
  replicas: 47,
  'logs-browser': 37,
  'dashboard-browser': 35,
  receivers: 35,
  'dashboard-layout': 35,
  'request-log-commands': 33,
  commands: 32,
  'request-log-faults': 30,
  'slow-clients': 30,
  'webhook-deliveries': 30,
  'documentation-browser': 29,
  fuzz: 25,
  passkeys: 25,
  'single-sign-on': 25,
  'planted-values': 24,
  'organization-browser': 21,
  'dashboard-journeys-browser': 21,
  pgbouncer: 20,
  'request-log-rollups': 20,
  'dashboard-pages': 20,
  'webhook-resends': 20,
  uploads: 20,
  'clients-on-networks': 20,
};

/** Files that mostly wait. While one of them runs, two others keep both cores busy. */
const WAITING = new Set([
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

export default class SlowFirstSequencer extends TestSequencer {
  sort(tests) {
    const slowFirst = super.sort(tests).toSorted((left, right) => secondsOf(right) - secondsOf(left));
    const waiting = slowFirst.filter((test) => WAITING.has(nameOf(test)));
    const busy = slowFirst.filter((test) => !WAITING.has(nameOf(test)));
    const mixed = busy.flatMap((test, index) => (index % 2 === 0 ? [...waiting.splice(0, 1), test] : [test]));
    return [...mixed, ...waiting];
  }
}

function secondsOf(test) {
  return SECONDS[nameOf(test)] ?? 0;
}

function nameOf({ path }) {
  return /\/test\/\w+\/([\w-]+)\.spec\.ts$/.exec(path)?.[1] ?? '';
}
