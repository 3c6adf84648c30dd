/*
 * Builds the packages in `clients` unless they were built from the current sources, and packs them into `clients/dist`, from
 * which the documentation site offers them, next to those of the last releases, which `clients/released` contains. `npm start`,
 * `npm pack`, the tests, and `npx mcs` in this repository run it.
 *
 *   node scripts/ensure-clients.mjs --release     also stores the packages in `clients/released`, for the commit of a release
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { hashOfFiles, sourcesIn } from './hash-of-files.mjs';
import { wheelOf } from './python-wheel.mjs';

const ROOT = join(import.meta.dirname, '..');
const SDK = join(ROOT, 'clients/typescript');
const CLI = join(ROOT, 'clients/cli');
const PYTHON = join(ROOT, 'clients/python');
const PACKAGES = join(ROOT, 'clients/dist');
/** The packages of the last releases, as they were released: lock files contain their checksums. */
const RELEASED = join(ROOT, 'clients/released');
const STAMP = join(PACKAGES, '.built-from');
/** Bytes. The packages have 40 to 480 kB. */
const MAX_PACKAGE_SIZE = 1_000_000;

// A deployed copy has no sources.
if (existsSync(join(CLI, 'src'))) await ensureClients();
if (process.argv[1] === import.meta.filename && process.argv[2] === '--release') release();

async function ensureClients() {
  const hash = hashOfFiles([
    ...['package-lock.json', 'tsconfig.json', 'scripts/python-wheel.mjs'].map((file) => join(ROOT, file)),
    ...sourcesIn(join(CLI, 'bin')),
    ...sourcesIn(RELEASED),
    ...['pyproject.toml', 'README.md'].map((file) => join(PYTHON, file)),
    ...sourcesIn(join(PYTHON, 'src')).filter((file) => file.endsWith('.py')),
    ...[SDK, CLI].flatMap((folder) => [
      ...['package.json', 'tsconfig.json', 'README.md'].map((file) => join(folder, file)),
      ...sourcesIn(join(folder, 'src')),
    ]),
  ]);
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  await build();
  pack();
  writeFileSync(STAMP, hash);
}

async function build() {
  // Standard output belongs to the program that follows.
  process.stderr.write('Building the clients…\n');
  for (const folder of [SDK, CLI]) rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile(['--outDir', join(SDK, 'dist/esm')]);
  compile(['--module', 'CommonJS', '--outDir', join(SDK, 'dist/cjs')]);
  writeFileSync(join(SDK, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');

  const { build: bundle } = await import('esbuild');
  const { metafile } = await bundle({
    entryPoints: [join(CLI, 'src/main.ts')],
    outfile: join(CLI, 'dist/mcs.cjs'),
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'warning',
    metafile: true,
  });
  writeNotices(CLI, Object.keys(metafile.inputs));
  writeNotices(SDK, []);
}

/** Writes the licenses of the packages that a bundle contains, which require that their texts go with it. */
function writeNotices(folder, inputs) {
  const packages = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const folders = [...new Set(packages)]
    .filter((each) => !each.includes('@merchant-connectivity/'))
    .toSorted();
  const notices = folders.map((each) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, each, 'package.json'), 'utf8'));
    const files = readdirSync(join(ROOT, each)).filter((file) =>
      /^(?:licen[cs]e|notice|copying)/i.test(file),
    );
    if (files.length === 0) throw new Error(`${name}, which is bundled, has no license text.`);
    const texts = files.map((file) => readFileSync(join(ROOT, each, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  const first =
    notices.length > 0 ? 'This package contains these packages:' : 'This package contains no other packages.';
  const separator = `\n\n${'-'.repeat(80)}\n\n`;
  writeFileSync(join(folder, 'THIRD_PARTY_NOTICES.txt'), `${[first, ...notices].join(separator)}\n`);
}

/**
 * Packs the clients. Nothing takes the place of a released package: until the version is increased, packages with other files have
 * another name.
 */
function pack() {
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES);
  const options = ['--workspaces', '--ignore-scripts', '--loglevel=error', '--pack-destination', PACKAGES];
  execFileSync('npm', ['pack', ...options], { cwd: ROOT, stdio: ['ignore', 'ignore', 2] });
  const wheel = wheelOf(PYTHON);
  writeFileSync(join(PACKAGES, wheel.name), wheel.bytes);
  for (const name of readdirSync(RELEASED)) {
    const [from, to] = [RELEASED, PACKAGES].map((folder) => join(folder, name));
    if (existsSync(to) && !readFileSync(from).equals(readFileSync(to)))
      // In the name of a wheel, the part after the version must begin with a digit.
      renameSync(to, to.replace(/\.tgz$/, '-unreleased$&').replace(/-py3-none-any\.whl$/, '-0unreleased$&'));
    copyFileSync(from, to);
  }
  const sums = readdirSync(PACKAGES).map((name) => {
    const bytes = readFileSync(join(PACKAGES, name));
    if (bytes.length > MAX_PACKAGE_SIZE) throw new Error(`${name} has more than ${MAX_PACKAGE_SIZE} bytes.`);
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(PACKAGES, 'SHA256SUMS'), sums.join(''));
}

/** Stores the packages of this version as they are released. */
function release() {
  const { version } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'));
  const suffixes = [`-${version}.tgz`, `-${version}-py3-none-any.whl`];
  for (const name of readdirSync(PACKAGES).filter((each) => suffixes.some((suffix) => each.endsWith(suffix))))
    copyFileSync(join(PACKAGES, name), join(RELEASED, name));
}

function compile(options) {
  const tsc = join(ROOT, 'node_modules/@typescript/native/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', relative(process.cwd(), SDK) || '.', ...options], {
      stdio: ['ignore', 2, 2],
    });
  } catch {
    process.exit(1);
  }
}
