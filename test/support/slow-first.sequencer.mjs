import TestSequencer from '@jest/test-sequencer';

/** CPU seconds of the slowest files, as in docs/decisions/0004-tests.md. Without them, Jest starts large files first. */
const SECONDS = {
  extending: 75,
  documents: 60,
  'command-line': 57,
  commands: 35,
  'hostile-bodies': 35,
  fuzz: 25,
  'request-log-faults': 27,
  'organization-browser': 25,
  replicas: 25,
  processes: 23,
  'account-browser': 20,
  'dashboard-browser': 20,
  'documentation-browser': 15,
  pgbouncer: 20,
  'request-log-rollups': 20,
  'logs-browser': 17,
  'webhooks-browser': 40,
  'dashboard-journeys-browser': 30,
  passkeys: 25,
  'single-sign-on': 25,
  'dashboard-pages': 20,
  'saml-login': 13,
  'single-sign-on-settings': 12,
  'audit-logs': 12,
  'form-messages': 10,
  'saml-configurations': 10,
  'saml-certificates': 9,
  'webhook-resends': 20,
  'embedded-postgres': 16,
  'request-log-commands': 15,
  'device-browser': 14,
  'generated-clients': 13,
  login: 13,
  sdk: 13,
  'dashboard-operations': 12,
  metrics: 12,
  // These wait.
  'slow-clients': 30,
  'webhook-deliveries': 30,
  'oauth-clients': 15,
};

export default class SlowFirstSequencer extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((left, right) => secondsOf(right) - secondsOf(left));
  }
}

function secondsOf({ path }) {
  const [, name = ''] = /\/test\/\w+\/([\w-]+)\.spec\.ts$/.exec(path) ?? [];
  return SECONDS[name] ?? 0;
}
