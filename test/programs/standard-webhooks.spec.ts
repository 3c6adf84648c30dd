import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildGoProgram, hasGo } from '../support/libraries/go-programs.js';
import { hasPythonPackages, PYTHONPATH } from '../support/sdks/python-packages.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useLogin, useTestApp } from '../support/test-app.js';
import { useReceiver, type Arrival } from '../support/webhooks/webhook-receiver.js';

const service = useTestApp({ WEBHOOK_TARGETS: 'any' });
const receiver = useReceiver();
const owner = useLogin(service);
let key: string;
let arrival: Arrival;

beforeAll(async () => {
  const created = await service.request<{ id: string; signing_key: string }>('/webhook-endpoints/create', {
    body: { environment: 'development', url: `${receiver.url}/standard`, signing: 'hmac' },
    login: owner,
  });
  key = created.body.signing_key;
  rememberSecret(key);
  const path = `/webhook-endpoints/${created.body.id}/test`;
  await service.request(path, { body: { event: 'CARD_UPDATED' }, login: owner });
  [arrival] = (await receiver.arrived(1)) as [Arrival];
});

/** Expects that a program accepts the delivery, with nothing but the key of the endpoint, and refuses a changed one. */
function expectVerifies(command: string, parameters: readonly string[], env: object = {}): void {
  const outcomeOf = (body: string, with_: string): string => {
    const input = JSON.stringify({ key: with_, body, headers: arrival.headers });
    const { stdout, stderr } = spawnSync(command, parameters, {
      input,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    return stdout.trim() || stderr;
  };
  const body = arrival.body.toString();
  const otherKey = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect([
    outcomeOf(body, key),
    outcomeOf(body.replace('CARD', 'CARB'), key),
    outcomeOf(body, otherKey),
  ]).toEqual(['accepted', 'refused', 'refused']);
}

const hasPython = hasPythonPackages('standardwebhooks');

describe('A delivery that is signed with the secret of its endpoint', () => {
  (hasPython ? it : it.skip)(
    `is verified by the library for Python${hasPython ? '' : ' (skipped: .ci/run installs it)'}`,
    () => {
      const program = join(import.meta.dirname, '..', 'support', 'libraries', 'standard_webhook.py');
      expectVerifies('python3', [program], { PYTHONPATH });
    },
    120_000,
  );

  (hasGo ? it : it.skip)(
    `is verified by the library for Go${hasGo ? '' : ' (skipped: go is not installed)'}`,
    async () => {
      const library = 'github.com/standard-webhooks/standard-webhooks/libraries v0.0.1';
      expectVerifies(await buildGoProgram('standard-webhook', library), []);
    },
    300_000,
  );
});
