import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../support/database/database.js';
import { startGateway } from '../../examples/merchant-gateway/server.mjs';
import { sendRpc, toolCall } from '../support/agents/agents.js';
import { eventually } from '../support/eventually.js';
import { startProductionService } from '../support/programs/production-service.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { NETFLIX } from '../support/merchants/sign-in-links.js';
import { startTraceCollector } from '../support/logs/trace-collector.js';
import { Visitor } from '../support/pages/visitor.js';

const planted = (name: string): string => `${name}${randomBytes(12).toString('hex')}`;
const VALUES = {
  userName: planted('user'),
  wrongPassword: planted('wrong'),
  password: planted('password'),
  wrongCode: planted('mistaken'),
  code: planted('code'),
  phoneNumber: `+1212555${randomInt(1_000, 9_999)}`,
} as const;
const USER = 'user-with-planted-values';

/** Returns the names of the planted values that the bytes contain, also in hexadecimal, as dumps show `bytea`. */
function foundIn(bytes: Buffer): string[] {
  return Object.entries(VALUES).flatMap(([name, value]) => {
    const forms = [
      Buffer.from(value),
      Buffer.from(Buffer.from(value).toString('hex')),
      Buffer.from(value, 'utf16le'),
    ];
    return forms.some((form) => bytes.includes(form)) ? [name] : [];
  });
}

/** The data that a sign-in left behind, and a text that must be in it, because a search of empty data finds nothing. */
const traces: { readonly place: string; readonly bytes: Buffer; readonly contains: string }[] = [];

/** A user signs in with a code, after a wrong password and a wrong code. Everything that could contain the values is kept. */
beforeAll(async () => {
  rememberSecret(...Object.values(VALUES));
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  rememberSecret(secret);
  const directory = mkdtempSync(join(tmpdir(), 'diagnostics-'));
  const collector = await startTraceCollector();
  const gateway = await startGateway({
    secret,
    merchant({ user_name, password }, code) {
      if (user_name !== VALUES.userName || password !== VALUES.password) return { outcome: 'refused' };
      if (code === undefined) return { outcome: 'code_required', challenge: { id: 'challenge' } };
      return { outcome: code === VALUES.code ? 'succeeded' : 'refused' };
    },
  });
  const service = await startProductionService({
    MERCHANT_GATEWAY_URL: gateway.url,
    MERCHANT_GATEWAY_SECRET: secret,
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    NODE_OPTIONS: [
      `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`,
      `--report-on-signal --report-signal=SIGWINCH --report-on-fatalerror --report-directory=${directory}`,
    ].join(' '),
  });
  const keepDump = async (place: string, contains: string): Promise<void> => {
    traces.push({ place, bytes: await dumpOf(service.database), contains });
  };
  /** Waits until the process has written the file, during which it does nothing else. */
  const keepDiagnostics = async (signal: NodeJS.Signals, ending: string, contains: string): Promise<void> => {
    service.program.signal(signal);
    const file = await eventually(`a file ends with ${ending}`, () =>
      readdirSync(directory).find((name) => name.endsWith(ending)),
    );
    // A connection that was idle in the meantime may be closed.
    await eventually(
      'the process responds again',
      async () => (await fetch(`${service.baseUrl}/healthz`).catch(() => undefined))?.ok,
    );
    traces.push({ place: file, bytes: readFileSync(join(directory, file)), contains });
  };
  try {
    const { token } = await service.request<{ token: string }>('/mcp/tokens/create', {
      external_user_id: USER,
      phone_number: VALUES.phoneNumber,
    });
    rememberSecret(token);
    const call = toolCall('create_sign_in_link', { merchant_id: NETFLIX.id });
    await sendRpc(service, call, { authorization: `Bearer ${token}` });
    const path = await service.linkSentTo(VALUES.phoneNumber);
    const visitor = new Visitor(service);
    const { userName: user_name, wrongPassword, password, wrongCode, code } = VALUES;
    await visitor.fill(path, { action: 'sign_in', user_name, password: wrongPassword });
    await visitor.fill(path, { action: 'sign_in', user_name, password });
    const wrong = await visitor.fill(path, { action: 'code', code: wrongCode });
    expect(wrong.text).toContain('did not accept this code');
    await keepDump('the database during the sign-in', USER);
    const right = await visitor.fill(path, { action: 'code', code });
    expect(right.location).toContain('done=completed');
    await keepDump('the database after the sign-in', 'AUTHENTICATED');
    await keepDiagnostics('SIGUSR2', '.heapsnapshot', 'https://api.example.com');
    await keepDiagnostics('SIGWINCH', '.json', 'javascriptHeap');
    service.program.signal('SIGTERM');
    const { output, errors } = await service.program.ended;
    traces.push({ place: 'the log', bytes: Buffer.from(output + errors), contains: '/sign-in/:token' });
    const exported = Buffer.from(collector.texts.join());
    traces.push({ place: 'the traces', bytes: exported, contains: 'merchant gateway code' });
  } finally {
    await service.close();
    gateway.close();
    await collector.close();
  }
}, 240_000);

/** Returns every row of every table. */
async function dumpOf(database: TestDatabase): Promise<Buffer> {
  const tables = await database.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => database.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
  );
  return Buffer.from(
    rows
      .flat()
      .map(({ row }) => row)
      .join('\n'),
  );
}

it('The user name, the password, the code and the phone number are in no log, trace, dump and diagnostic file', () => {
  expect(traces).toHaveLength(6);
  expect(
    traces.map(({ place, bytes, contains }) => ({
      place,
      isComplete: bytes.includes(contains),
      found: foundIn(bytes),
    })),
  ).toEqual(traces.map(({ place }) => ({ place, isComplete: true, found: [] })));
});

it('The search finds values in each form', () => {
  const { password } = VALUES;
  for (const text of [password, Buffer.from(`x${password}`).toString('hex')])
    expect(foundIn(Buffer.from(`{"a":"${text}"}`))).toEqual(['password']);
  expect(foundIn(Buffer.from(password, 'utf16le'))).toEqual(['password']);
});
