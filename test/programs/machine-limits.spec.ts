import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs/program.js';
import { newKeys } from '../support/test-app.js';

const MAIN = join(process.env.TEST_BUNDLE ?? '', 'dist', 'src', 'main.js');
const folder = mkdtempSync(join(tmpdir(), 'limits-'));
let database: TestDatabase;
let environment: Record<string, string>;

import.meta.jest.setTimeout(60_000);

beforeAll(async () => {
  database = await cloneDatabase();
  environment = { PORT: '0', DATABASE_URL: database.url, DATA_DIR: join(folder, 'data'), ...newKeys() };
});
afterEach(() => Program.endAll());
afterAll(() => database.drop());

describe('A machine without IPv6', () => {
  const start = (settings: Record<string, string>): Program =>
    new Program(join(import.meta.dirname, '..', 'support', 'programs', 'without-ipv6.py'), {
      node: 'python3',
      arguments: [process.execPath, MAIN],
      environment: { ...environment, ...settings },
    });

  it('is told that an address of IPv6 is none of its own', async () => {
    const { code, errors } = await start({ HOST: '::1' }).ended;
    expect(code).toBe(1);
    expect(errors).toContain(
      'HOST=::1 is not an address of this machine. Set HOST to one of its addresses, or to 0.0.0.0 for all.',
    );
  });

  it('is served on all IPv4 addresses if HOST and METRICS_HOST are all addresses, and the log says so', async () => {
    const service = start({ HOST: '::', METRICS_PORT: '0', METRICS_HOST: '::' });
    const [, baseUrl = ''] = await service.waitForOutput(/Listening on (\S+)\. Doc/);
    const [, metrics = ''] = await service.waitForOutput(/Metrics: (\S+)/);
    for (const [url, path] of [
      [baseUrl, '/readyz'],
      [metrics, '/metrics'],
    ] as const) {
      expect((await fetch(`http://127.0.0.1:${new URL(url).port}${path}`)).status).toBe(200);
    }
    expect(service.output.match(/This machine has no IPv6: \w+ is 0\.0\.0\.0 instead of ::\./g)).toEqual([
      'This machine has no IPv6: METRICS_HOST is 0.0.0.0 instead of ::.',
      'This machine has no IPv6: HOST is 0.0.0.0 instead of ::.',
    ]);
    expect(service.errors).toBe('');
  });
});

describe('A process without free file descriptors', () => {
  it('loads a library that it could not load while too many files were open', async () => {
    const folderOfLibrary = join(folder, 'library');
    const script = join(folder, 'loads.mjs');
    mkdirSync(join(folderOfLibrary, 'node_modules'), { recursive: true });
    writeFileSync(join(folderOfLibrary, 'part.mjs'), 'export const value = 1;');
    writeFileSync(join(folderOfLibrary, 'library.mjs'), 'export { value } from "./part.mjs";');
    const { href } = pathToFileURL(join(folderOfLibrary, 'from.mjs'));
    const lazyValues = pathToFileURL('dist/src/infrastructure/lazy-values/index.js').href;
    writeFileSync(
      script,
      `import { closeSync, openSync } from 'node:fs';
       import { lazyModule } from ${JSON.stringify(lazyValues)};
       const load = lazyModule('./library.mjs', ${JSON.stringify(href)});
       const held = [];
       try { for (;;) held.push(openSync('/dev/null')); } catch (error) { console.log(error.code); }
       for (const free of [0, 1]) {
         if (free) for (const file of held) closeSync(file);
         try { console.log(load().value); } catch (error) { console.log(error.code); }
       }`,
    );
    const limited = join(folder, 'limited-loads.sh');
    writeFileSync(limited, 'ulimit -n 100; exec "$@"\n');
    const program = new Program(limited, {
      node: '/bin/sh',
      arguments: [process.execPath, script],
      environment,
    });
    // Node.js 24 takes the description of the package that it cannot read for a wrong one.
    expect((await program.ended).output).toMatch(/^EMFILE\n(?:EMFILE|ERR_INVALID_PACKAGE_CONFIG)\n1\n$/);
  });

  it('says once a minute that connections are closed, and recovers', async () => {
    const script = join(folder, 'limited.sh');
    writeFileSync(script, 'ulimit -n 100; exec "$@"\n');
    const service = new Program(script, {
      node: '/bin/sh',
      arguments: [process.execPath, MAIN],
      environment,
    });
    const [, baseUrl = ''] = await service.waitForOutput(/Listening on (\S+)\. Doc/);
    const clients = new Set<Socket>();
    // Takes each descriptor that the process frees, such as that of an idle connection to the database.
    const refill = setInterval(() => {
      while (clients.size < 120) {
        const client = connect(Number(new URL(baseUrl).port), '127.0.0.1').on('error', () => undefined);
        clients.add(client.once('close', () => clients.delete(client)));
      }
    }, 100);
    const line = /The process can open no more files and connections \(EMFILE\)/g;
    await service.waitForErrors(line);
    await expect(fetch(`${baseUrl}/healthz`)).rejects.toThrow();
    clearInterval(refill);
    for (const client of clients) client.destroy();
    await eventually('requests are served again', async () =>
      fetch(`${baseUrl}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect(service.errors.match(line)).toHaveLength(1);
  });
});
