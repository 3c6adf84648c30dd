import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send } from '../support/http.js';
import { useTestApp } from '../support/test-app.js';

const service = useTestApp({ DASHBOARD_URL: 'https://dashboard.example.com' });

const get = (path: string, headers: Record<string, string> = {}) => send(service.baseUrl + path, { headers });

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
    for (const name of ['.built-from', 'other.tgz', '..%2f..%2fpackage.json'])
      expect([name, (await get(`/docs/downloads/${name}`)).status]).toEqual([name, 404]);
  }, 30_000);
});
