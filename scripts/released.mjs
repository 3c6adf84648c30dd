import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const git = (...words) => execFileSync('git', words, { cwd: ROOT, maxBuffer: 2 ** 30 });

/** Returns the released versions that CHANGELOG.md names, with their commits; the newest first. */
export function releases() {
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const found = [...text.matchAll(/^## (\d+\.\d+\.\d+) .*\n+Commit `([0-9a-f]{40})`\./gm)];
  if (found.length === 0) throw new Error('CHANGELOG.md names no released version with its commit.');
  return found.map(([, version, commit]) => ({ version, commit }));
}

/**
 * Returns the release whose databases the migrations of this checkout upgrade: the newest one. Until the first migration after a
 * release, it is the one before.
 */
export function upgradedRelease() {
  const source = join(ROOT, 'src/infrastructure/database/migration-checksums.ts');
  const [, version] = /LAST_RELEASE = \{\s*version: '([^']+)'/.exec(readFileSync(source, 'utf8')) ?? [];
  const all = releases();
  const found = all.find((release) => release.version === version);
  if (!found) throw new Error(`CHANGELOG.md names no commit of version ${version}.`);
  const [newest] = all;
  if (newest !== found && contains(newest.commit) && differs(newest.commit, 'docs/schema.sql'))
    throw new Error(
      `The schema has changed since version ${newest.version}: set LAST_RELEASE to it, and remove its migrations.`,
    );
  return found;
}

/** Returns whether this checkout contains the commit; a shallow or exported one may not. */
export function contains(commit) {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status === 0;
}

/** Returns whether one of the files or folders is not as it was in the commit. */
export function differs(commit, ...paths) {
  return spawnSync('git', ['diff', '--quiet', commit, '--', ...paths], { cwd: ROOT }).status !== 0;
}

/** Writes the files of the commit to the folder, and installs their packages unless they are those of this checkout. */
export function checkOut(commit, folder) {
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit) });
  const lock = git('show', `${commit}:package-lock.json`).toString();
  if (packagesOf(lock) === packagesOf(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else installPackages(folder);
}

/** Installs what the lock file of the folder says. The packages of this checkout are linked: most of them are the same. */
function installPackages(folder) {
  const [from, to] = [ROOT, folder].map((each) => join(each, 'node_modules'));
  // Tests that run at the same time write to `.cache`.
  const names = readdirSync(from).filter((name) => name !== '.cache');
  mkdirSync(to);
  const isLinked = spawnSync('cp', ['-al', ...names, to], { cwd: from, stdio: 'ignore' }).status === 0;
  if (isLinked) {
    // npm changes this file in place, which must not change that of this checkout.
    const installed = '.package-lock.json';
    rmSync(join(to, installed));
    copyFileSync(join(from, installed), join(to, installed));
  }
  // The folder may be on another file system. `npm ci` would begin by removing the links.
  const words = isLinked ? ['install', '--no-save', '--prefer-offline'] : ['ci'];
  execFileSync('npm', [...words, '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
}

/** Returns the packages of a lock file, without the version of the service itself. */
function packagesOf(lock) {
  const { '': _service, ...packages } = JSON.parse(lock).packages;
  return JSON.stringify(packages);
}
