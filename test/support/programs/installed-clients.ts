import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const execute = promisify(execFile);

/** Returns the names of the packages of this checkout. Those of the last releases are in the same folder. */
export function packedClients(): string[] {
  const names = readdirSync(join(ROOT, 'clients/dist')).filter((name) => name.endsWith('.tgz'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'clients/typescript/package.json'), 'utf8')) as {
    version: string;
  };
  const suffix = names.some((name) => name.endsWith('-unreleased.tgz'))
    ? '-unreleased.tgz'
    : `-${version}.tgz`;
  return names.filter((name) => name.endsWith(suffix));
}

/** The packages for integrators, installed from their tarballs into an empty folder, without a registry. */
export interface InstalledClients {
  /** The project that they are installed in. */
  readonly folder: string;
  /** The program `mcs`. */
  readonly mcs: string;
  /** The script that the program loads. */
  readonly script: string;
  /** The tarballs. */
  readonly tarballs: readonly string[];
}

export async function installClients(): Promise<InstalledClients> {
  // `global-setup.mjs` has packed them.
  const packed = join(ROOT, 'clients/dist');
  const tarballs = packedClients().map((name) => join(packed, name));
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });
  const modules = join(folder, 'node_modules');
  const script = join(modules, '@merchant-connectivity/cli/dist/mcs.cjs');
  return { folder, mcs: join(modules, '.bin/mcs'), script, tarballs };
}

/** Returns the paths of Node.js by major version: of the one that runs, and of those that npm can get at once. */
export async function nodeVersions(): Promise<ReadonlyMap<string, string>> {
  const found = new Map([[process.versions.node.split('.')[0] ?? '', process.execPath]]);
  for (const version of ['20', '22', '24']) {
    if (found.has(version)) continue;
    const command = ['exec', '--yes', '--prefer-offline', `--package=node@${version}`, '--', 'node', '-p'];
    // In CI, each version has a run of its own.
    const options = { timeout: process.env.CI ? 1 : 20_000 };
    const path = await execute('npm', [...command, 'process.execPath'], options).catch(() => undefined);
    if (path) found.set(version, path.stdout.trim());
  }
  return found;
}
