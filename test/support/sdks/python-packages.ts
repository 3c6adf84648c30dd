import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The versions 3.x of Python that the Python SDK supports. */
export const [OLDEST_MINOR, NEWEST_MINOR] = [10, 15] as const;

/** `.ci/run` installs packages there. */
export const PYTHONPATH = join(import.meta.dirname, '..', '..', '..', '.artefacts', 'python');

/** With packages that the Python SDK requires, for clean environments. */
export const PYTHON_WHEELS = join(PYTHONPATH, '..', 'python-wheels');

/** Returns whether Python has these packages. In CI, it must have them. */
export function hasPythonPackages(...names: readonly string[]): boolean {
  const program = ['-c', `import ${names.join(', ')}`];
  const { status } = spawnSync('python3', program, { env: { ...process.env, PYTHONPATH } });
  return status === 0 || process.env.CI === 'true';
}

/** Returns the path of the Python SDK of this checkout, which `global-setup.mjs` has packed. */
export function pythonWheel(): string {
  const folder = join(import.meta.dirname, '..', '..', '..', 'clients/dist');
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.whl'))
    .toSorted();
  return join(folder, names.find((name) => name.includes('-0unreleased-')) ?? names.at(-1) ?? '');
}

/** Returns the paths of the versions of Python that this machine has and the Python SDK supports. */
export async function pythonVersions(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const code = 'import sys; print("%d.%d" % sys.version_info[:2], sys.executable)';
  const minors = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => OLDEST_MINOR + index);
  for (const name of ['python3', ...minors.map((minor) => `python3.${minor}`)]) {
    const ended = await promisify(execFile)(name, ['-c', code]).catch(() => undefined);
    const [version = '', path = ''] = ended?.stdout.trim().split(' ') ?? [];
    if (path !== '') found.set(version, path);
  }
  return found;
}

/** Installs the Python SDK, without the packages that it requires. @returns the folder for PYTHONPATH */
export async function installPythonSdk(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'python-sdk-'));
  const options = ['--quiet', '--no-deps', '--no-index', '--disable-pip-version-check', '--target', folder];
  await promisify(execFile)('python3', ['-m', 'pip', 'install', ...options, pythonWheel()]);
  return folder;
}
