import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { send } from '../support/http/http.js';
import { useTestApp } from '../support/test-app.js';

const service = useTestApp({ DASHBOARD_URL: 'https://dashboard.example.com' });

const get = (path: string, headers: Record<string, string> = {}) => send(service.baseUrl + path, { headers });

const ROOT = join(import.meta.dirname, '../..');
const RELEASED = join(ROOT, 'clients/released');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('Packages of released versions', () => {
  it('are kept for the last two releases that had packages', async () => {
    const { releases } = (await import(pathToFileURL(join(ROOT, 'scripts/released.mjs')).href)) as {
      releases(): { version: string }[];
    };
    // The first release had none.
    const kept = releases()
      .map(({ version }) => version)
      .filter((version) => version !== '0.2.0')
      .slice(0, 2);
    // It had no Python SDK.
    const withPython = kept.filter((version) => version !== '0.3.0');
    const names = [
      ...kept.flatMap((version) =>
        ['sdk', 'cli'].map((name) => `merchant-connectivity-${name}-${version}.tgz`),
      ),
      ...withPython.map((version) => `merchant_connectivity-${version}-py3-none-any.whl`),
    ];
    for (const name of names) expect([name, existsSync(join(RELEASED, name))]).toEqual([name, true]);
  });

  it('are offered with the same bytes for ever, and listed with their checksums', async () => {
    const names = readdirSync(RELEASED);
    // These are in lock files of integrators.
    expect(sha256(readFileSync(join(RELEASED, 'merchant-connectivity-sdk-0.3.0.tgz')))).toBe(
      '74ce260aaaa30686760e9f223da5fcafea4dd8eb6beea808d4d2dc73243bd8ba',
    );
    const [page, sums] = await Promise.all([get('/docs/downloads'), get('/docs/downloads/SHA256SUMS')]);
    for (const name of names) {
      const released = readFileSync(join(RELEASED, name));
      const response = await fetch(`${service.baseUrl}/docs/downloads/${name}`);
      expect([name, sha256(Buffer.from(await response.arrayBuffer()))]).toEqual([name, sha256(released)]);
      expect(sums.text).toContain(`${sha256(released)}  ${name}\n`);
      expect(page.text).toContain(`href="/docs/downloads/${name}"`);
    }
  });

  it('have the same bytes if they are built again from the same files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'packed-'));
    for (const path of ['clients', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json', '.npmrc'])
      cpSync(join(ROOT, path), join(folder, path), {
        recursive: true,
        filter: (source) => !/\/clients\/(?:\w+\/)?dist$/.test(source),
      });
    // Links to files, because a link to the folder would lead to other paths. On another file system, copies.
    const link = 'cp -al "$0/node_modules" . 2>&- || cp -a "$0/node_modules" .';
    await promisify(execFile)('sh', ['-c', link, ROOT], { cwd: folder });
    // Neither the time nor the names of the folders are part of a package.
    for (const file of ['clients/typescript/README.md', 'clients/cli/bin/mcs.js'])
      utimesSync(join(folder, file), 0, 0);
    await promisify(execFile)(process.execPath, ['scripts/ensure-clients.mjs'], { cwd: folder });
    const sums = (path: string): string => readFileSync(join(path, 'clients/dist/SHA256SUMS'), 'utf8');
    expect(sums(folder)).toBe(sums(ROOT));
    rmSync(folder, { recursive: true });
  }, 120_000);
});

describe('The documentation site', () => {
  it('offers the packages for integrators, with the commands that install them', async () => {
    const pages = await Promise.all(['typescript', 'command-line'].map((name) => get(`/docs/${name}`)));
    const urls = pages.map(
      ({ text }) => /http:[\w:/.-]+\.tgz/.exec(text.replaceAll(/<[^>]+>/g, ''))?.[0] ?? '',
    );
    const page = await get('/docs/downloads');
    const sums = await get('/docs/downloads/SHA256SUMS');
    for (const url of urls) expect([page.status, page.text]).toEqual([200, expect.stringContaining(url)]);
    for (const url of urls) {
      expect(url).toMatch(
        new RegExp(`^${service.baseUrl}/docs/downloads/merchant-connectivity-\\w+-[\\d.]+\\.tgz$`),
      );
      const response = await fetch(url);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([response.headers.get('content-type'), response.headers.get('content-encoding')]).toEqual([
        'application/gzip',
        null,
      ]);
      const sum = createHash('sha256').update(bytes).digest('hex');
      expect(sums.text).toContain(`${sum}  ${url.split('/').at(-1)}\n`);
      expect(page.text).toContain(sum);
    }
    const folder = mkdtempSync(join(tmpdir(), 'installed-'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const npm = ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), ...urls];
    await promisify(execFile)('npm', npm, { cwd: folder });
    const run = (file: string, ...words: string[]) => promisify(execFile)(file, words, { cwd: folder });
    expect((await run('node_modules/.bin/mcs', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const code = "console.log(typeof require('@merchant-connectivity/sdk').webhooks.verify)";
    expect((await run(process.execPath, '-e', code)).stdout).toBe('function\n');
    for (const name of ['sdk', 'cli'])
      expect(existsSync(join(folder, `node_modules/@merchant-connectivity/${name}/README.md`))).toBe(true);
    for (const name of ['README.md', '.built-from', 'other.tgz', '..%2f..%2fpackage.json'])
      expect([name, (await get(`/docs/downloads/${name}`)).status]).toEqual([name, 404]);
  }, 30_000);
});
