import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accessToken } from '../support/logins/device-flow.js';
import {
  installClients,
  nodeVersions,
  type InstalledClients,
} from '../support/programs/installed-clients.js';
import { Program, run } from '../support/programs/program.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { toolPath } from '../support/programs/tools.js';
import { startReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.js';

const ROOT = join(import.meta.dirname, '..', '..');
const NAME = '@merchant-connectivity/sdk';
const versions = await nodeVersions();

let clients: InstalledClients;
let service: TestApp;
let receiver: WebhookReceiver;
let environment: Record<string, string>;

beforeAll(async () => {
  receiver = await startReceiver();
  [clients, service] = await Promise.all([
    installClients(),
    startTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true }),
  ]);
  environment = {
    base_url: service.baseUrl,
    client_id: service.development.clientId,
    secret: service.development.secret,
    access_token: await accessToken(service, await service.login()),
    receiver: receiver.url,
  };
}, 60_000);
afterAll(async () => {
  await Program.endAll();
  await service.close();
  await receiver.close();
});

/** Uses each kind of operation. `imported` are the members of the package. */
const program = (importing: string): string => `${importing}
const { base_url: baseUrl, client_id: clientId, secret, access_token: accessToken, receiver } = process.env;
const client = new MerchantConnectivity({ baseUrl, clientId, clientSecret: secret, accessToken: () => accessToken });
const main = async () => {
  const users = ['a', 'b', 'c'];
  for (const user of users) await client.createMcpToken({ external_user_id: 'sdk-' + process.version + user });
  const entries = [];
  for await (const entry of client.listRequestLogs({ environment: 'development', limit: 2 })) entries.push(entry);
  const first = await client.listRequestLogs({ environment: 'development', limit: 1 });
  const error = await client.createMcpToken({ external_user_id: '' }).catch((thrown) => thrown);
  const endpoint = await client.createWebhookEndpoint({ environment: 'development', url: receiver + '/' + process.version });
  await client.updateWebhookEndpoint(endpoint.id, { description: 'SDK' });
  const test = await client.testWebhookEndpoint(endpoint.id, { event: 'CARD_UPDATED' });
  await client.deleteWebhookEndpoint(endpoint.id);
  console.log(JSON.stringify({
    users: entries.map((entry) => entry.external_user_id).filter((user) => user?.startsWith('sdk-' + process.version)),
    first: first.data.length,
    error: { isApiError: error instanceof ApiError, errorCode: error.errorCode, requestId: error.requestId },
    received: test.received,
    verify: typeof webhooks.verify,
  }));
};
void main();
`;
const NAMES = '{ ApiError, MerchantConnectivity, webhooks }';

describe.each([...versions])('The TypeScript SDK on Node.js %s', (_version, node) => {
  it.each([
    ['an ES module', 'program.mjs', `import ${NAMES} from '${NAME}';`],
    ['a CommonJS module', 'program.cjs', `const ${NAMES} = require('${NAME}');`],
  ])('works in %s', async (_kind, file, importing) => {
    const path = join(clients.folder, file);
    writeFileSync(path, program(importing));
    const { code, output, errors } = await run(path, { environment, node });
    expect([code, errors]).toEqual([0, '']);
    const result = JSON.parse(output) as Record<string, unknown>;
    expect(result).toMatchObject({
      first: 1,
      error: { isApiError: true, errorCode: 'INVALID_FIELD', requestId: expect.any(String) },
      received: true,
      verify: 'function',
    });
    expect(new Set(result['users'] as string[]).size).toBe(3);
  });
});

describe('The TypeScript SDK', () => {
  it('is generated from the current API document', async () => {
    const folder = mkdtempSync(join(clients.folder, 'generated-'));
    await promisify(execFile)(process.execPath, ['scripts/generate-sdk.mjs', folder], { cwd: ROOT });
    for (const file of readdirSync(folder)) {
      const committed = readFileSync(join(ROOT, 'clients/typescript/src', file), 'utf8');
      // Not `toBe`, whose message would show the files.
      expect([file, readFileSync(join(folder, file), 'utf8') === committed]).toEqual([file, true]);
    }
  });

  it('verifies a delivered webhook', async () => {
    const path = join(clients.folder, 'verify.mjs');
    writeFileSync(
      path,
      `import { webhooks } from '${NAME}';
       const { headers, body, secret } = process.env;
       const event = await webhooks.verify(Buffer.from(body, 'base64'), JSON.parse(headers), secret);
       console.log(event.event);`,
    );
    const arrival = receiver.arrivals.at(-1);
    const { code, output } = await run(path, {
      environment: {
        ...environment,
        headers: JSON.stringify(arrival?.headers),
        body: arrival?.body.toString('base64') ?? '',
      },
    });
    expect([code, output]).toEqual([0, 'CARD_UPDATED\n']);
  });

  it('has types that TypeScript finds in ES modules and CommonJS modules', async () => {
    const usage = `
      import { MerchantConnectivity, webhooks, type ErrorCode, ApiError } from '${NAME}';
      const client = new MerchantConnectivity({ baseUrl: '' });
      const main = async (): Promise<ErrorCode | undefined> => {
        const { token }: { token: string } = await client.createMcpToken({ external_user_id: 'u' });
        // @ts-expect-error: the field has another name.
        await client.createMcpToken({ user: token });
        for await (const { status_code } of client.listRequestLogs({ environment: 'production' })) status_code.toFixed();
        const event = await webhooks.verify('', {}, '');
        if (event.event === 'CARD_UPDATED') event.data.card_id.toUpperCase();
        // @ts-expect-error: there is no such event.
        if (event.event === 'CARD_LOST') return;
        return new ApiError('', 400, '').errorCode;
      };
      void main();`;
    for (const file of ['types.mts', 'types.cts']) writeFileSync(join(clients.folder, file), usage);
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--types', ''];
    const compiler = [join(ROOT, 'node_modules/@typescript/native/bin/tsc'), ...options];
    const files = [
      '--module',
      'NodeNext',
      '--target',
      'ES2023',
      '--lib',
      'ES2023,DOM',
      'types.mts',
      'types.cts',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [...compiler, ...files], {
      cwd: clients.folder,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  it('resolves in every mode of TypeScript, according to arethetypeswrong', async () => {
    const tarball = clients.tarballs.find((path) => path.includes('sdk')) ?? '';
    const program = toolPath('@arethetypeswrong/cli', 'dist/index.js');
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--format=json', tarball], {
      maxBuffer: 1e8,
    });
    expect(JSON.parse(stdout)).toMatchObject({ analysis: { types: { kind: 'included' }, problems: [] } });
  });

  it.each(['typescript', 'cli'])('has no problems according to publint: clients/%s', async (folder) => {
    const program = toolPath('publint', 'src/cli.js');
    const { stdout } = await promisify(execFile)(process.execPath, [
      program,
      join(ROOT, 'clients', folder),
      '--strict',
    ]);
    expect(stdout).toContain('All good!');
  });

  it('has a list of the licenses of the packages that it contains, as mcs has', () => {
    const installed = (name: string, file: string): string =>
      readFileSync(join(clients.folder, 'node_modules/@merchant-connectivity', name, file), 'utf8');
    const bundled = installed('cli', 'dist/mcs.cjs').matchAll(
      /^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm,
    );
    const names = new Set([...bundled].map(([, name = '']) => name));
    expect(names.size).toBeGreaterThan(3);
    const notices = installed('cli', 'THIRD_PARTY_NOTICES.txt');
    for (const name of names) {
      const [, text = ''] = notices.split(`\n${name} `);
      expect([name, /Permission is hereby granted|Apache License/.test(text)]).toEqual([name, true]);
    }
    expect(installed('sdk', 'THIRD_PARTY_NOTICES.txt')).toContain('contains no other packages');
  });

  it('has no dependencies', () => {
    const file = readFileSync(join(clients.folder, 'node_modules', NAME, 'package.json'), 'utf8');
    expect(JSON.parse(file)).not.toHaveProperty('dependencies');
  });
});
