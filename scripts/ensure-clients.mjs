/*
 * Builds the packages in `clients` unless they were built from the current sources, and packs them into `clients/dist`, from
 * which the documentation site offers them. `npm start`, `npm pack`, the tests, and `npx mcs` in this repository run it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hashOfFiles, sourcesIn } from './hash-of-files.mjs';

const ROOT = join(import.meta.dirname, '..');
const SDK = join(ROOT, 'clients/typescript');
const CLI = join(ROOT, 'clients/cli');
const PACKAGES = join(ROOT, 'clients/dist');
const STAMP = join(PACKAGES, '.built-from');
/** Bytes. The packages have 50 and 260 kB. */
const MAX_PACKAGE_SIZE = 1_000_000;

// A deployed copy has no sources.
if (existsSync(join(CLI, 'src'))) await ensureClients();

async function ensureClients() {
  const hash = hashOfFiles([
    join(ROOT, 'package-lock.json'),
    ...sourcesIn(join(CLI, 'bin')),
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

/** The bytes of a package depend only on its files, so its checksum stays the same until they change. */
function pack() {
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES);
  const options = ['--workspaces', '--ignore-scripts', '--loglevel=error', '--pack-destination', PACKAGES];
  execFileSync('npm', ['pack', ...options], { cwd: ROOT, stdio: ['ignore', 'ignore', 2] });
  const sums = readdirSync(PACKAGES).map((name) => {
    const bytes = readFileSync(join(PACKAGES, name));
    if (bytes.length > MAX_PACKAGE_SIZE) throw new Error(`${name} has more than ${MAX_PACKAGE_SIZE} bytes.`);
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(PACKAGES, 'SHA256SUMS'), sums.join(''));
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
