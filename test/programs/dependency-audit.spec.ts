import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..', '..');
const TIMEOUT = 60_000;

let registry: Server | undefined;
afterEach(() => new Promise((closed) => (registry ? registry.close(closed) : closed(undefined))));

/** Runs the check with a registry that responds like this to queries for advisories. */
async function audit(status: number, advisories: object): Promise<{ code: number; output: string }> {
  registry = createServer((request, response) => {
    const isQuery = request.url?.endsWith('/security/advisories/bulk') ?? false;
    response.writeHead(isQuery ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isQuery ? advisories : installed(decodeURIComponent(request.url ?? ''))));
  });
  await new Promise<void>((listening) => registry?.listen(0, '127.0.0.1', listening));
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_fetch_retries: '0',
    // Otherwise, npm asks the registry for a newer npm once a week.
    npm_config_update_notifier: 'false',
    // npm caches advisories.
    npm_config_cache: mkdtempSync(join(process.env.TEST_RUN_DIRECTORY ?? tmpdir(), 'npm-')),
  };
  return new Promise((resolve) => {
    execFile(join(PROJECT, '.ci', 'audit'), { env }, (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout }),
    );
  });
}

/** Returns the registry's document of a package, with only the installed version. */
function installed(path: string): object {
  const name = path.slice(1);
  const file = join(PROJECT, 'node_modules', name, 'package.json');
  const { version, dependencies } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [`${version}`]: { name, version, dependencies } },
  };
}

const advisory = (severity: string): object => ({
  express: [{ id: 1, url: 'https://example.com/1', title: 'A flaw', severity, vulnerable_versions: '*' }],
});

describe('.ci/audit', () => {
  it.each([
    ['no advisory', {}, 0, /^\d+ production packages, 0 with severe vulnerabilities\.$/m],
    ['a moderate advisory', advisory('moderate'), 0, / 0 with severe vulnerabilities\.$/m],
    ['a high advisory', advisory('high'), 1, /^express .*: high$/m],
  ])(
    'decides by the advisories of the registry: %s',
    async (_what, advisories, code, message) => {
      expect(await audit(200, advisories)).toEqual({ code, output: expect.stringMatching(message) });
    },
    TIMEOUT,
  );

  it(
    'passes with a notice if the registry cannot be queried',
    async () => {
      expect(await audit(405, {})).toEqual({ code: 0, output: expect.stringMatching(/^NOT CHECKED: .*405/) });
    },
    TIMEOUT,
  );
});

describe('.ci/phone-metadata', () => {
  it.each([
    ['2027-11-10', 0],
    ['2027-11-11', 1],
  ])('says on %s whether the metadata is older than a year', async (day, expected) => {
    const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
      execFile(join(PROJECT, '.ci', 'phone-metadata'), [day], (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout }),
      );
    });
    expect([code, output.includes('must not be older than a year')]).toEqual([expected, expected === 1]);
  });
});
