/*
 * Bundles the built application for the tests unless the bundle is current, and prints its directory.
 *
 * The directory has a file for each dependency in `npm`, and for each file of the build in `dist`, which export a module of
 * the bundle. The programs in `dist` and `scripts` are copies.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BundledScript, exportOf, provideModules, readBundle } from './bundle.mjs';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const CACHE = join(ROOT, 'node_modules/.cache/test-bundles');
const MAX_AGE_MS = 86_400_000;

/** Files that start a program when they are loaded. */
const PROGRAMS = ['src/main.js', 'src/worker.js', 'src/cli/main.js'];
/** Programs of the development, which wait at the top level as a script cannot, and what runs in another thread. */
const NOT_BUNDLED = ['src/openapi.js', 'src/reference.js', 'src/modules/single-sign-on/saml/saml-thread.js'];
/** It has a native part, and is loaded by Node.js. */
const NATIVE = '@node-rs/argon2';
/** Libraries that tests use so much that they belong into the bundle, too. */
const TEST_LIBRARIES = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/sdk',
  'ajv',
  'ajv-formats',
  'fast-check',
];
const IMPORT = /(?:\bfrom|\bimport|\bimport\(|\blazyModule\()\s*["'](@?[a-z][\w./-]*)["']/g;

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
// Copies of the project whose dependencies are links, as in extending.spec.ts, share the bundle of the dependencies.
const hash = createHash('sha256')
  .update(realpathSync(join(ROOT, 'node_modules')))
  .update(process.version);
for (const file of ['bundle.mjs', 'build-bundle.mjs'])
  hash.update(readFileSync(join(import.meta.dirname, file)));
hash.update(readFileSync(join(ROOT, 'package-lock.json')));

const dist = filesIn(join(ROOT, 'dist'), /\.js$/).filter(
  (file) => file.startsWith('src/') && !NOT_BUNDLED.includes(file),
);
const texts = new Map(dist.map((file) => [file, readFileSync(join(ROOT, 'dist', file), 'utf8')]));
const dependencies = findDependencies();
hash.update(dependencies.join());
const forDependencies = await provide('dependencies', hash.copy(), buildDependencies);
hash.update(ROOT).update(readFileSync(join(ROOT, 'dist/.built-from')));
/** The program that fills a database before it starts the service. Releases before 0.4.0 have none. */
const demo = filesIn(join(ROOT, 'scripts'), /\.mjs$/).filter((file) => file.startsWith('demo'));
for (const file of demo) hash.update(readFileSync(join(ROOT, 'scripts', file)));
const forSources = await provide('sources', hash.copy(), buildSources);
removeOld();
process.stdout.write(forSources);

/** Returns the dependencies that the application imports, or that tests import together with it, and files of theirs. */
function findDependencies() {
  const tests = filesIn(join(ROOT, 'test'), /\.(?:ts|mjs)$/).map((file) =>
    readFileSync(join(ROOT, 'test', file), 'utf8'),
  );
  const names = [...texts.values(), ...tests].flatMap((text) =>
    [...text.matchAll(IMPORT)].map(([, name]) => name),
  );
  const packages = new Set([...Object.keys(manifest.dependencies), ...TEST_LIBRARIES]);
  const isDependency = (name) => packages.has(packageOf(name)) && name !== NATIVE;
  return [...new Set(names)].filter(isDependency).sort();
}

function packageOf(name) {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

async function buildDependencies(directory, finalDirectory) {
  const file = join(directory, 'bundle.cjs');
  await bundle(file, new Map(dependencies.map((name) => [name, name])));
  const names = exportsOf([new BundledScript(file, join(finalDirectory, 'bundle.cjs'))], dependencies);
  writeFileSync(join(directory, 'names.json'), JSON.stringify(names));
}

async function buildSources(directory, finalDirectory) {
  const names = JSON.parse(readFileSync(join(forDependencies, 'names.json'), 'utf8'));
  const dependency = {
    name: 'dependency',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[^./]/ }, ({ path }) =>
        names[path] ? { path, namespace: 'dependency' } : undefined,
      );
      onLoad({ filter: /.*/, namespace: 'dependency' }, ({ path }) => ({
        contents: exportOf(path, names[path]),
      }));
    },
  };
  const modules = dist.filter((file) => !PROGRAMS.includes(file));
  await bundle(
    join(directory, 'bundle.cjs'),
    new Map(modules.map((file) => [file, join(ROOT, 'dist', file)])),
    dependency,
  );
  const scripts = [`../${basename(forDependencies)}/bundle.cjs`, 'bundle.cjs'];
  writeFileSync(join(directory, 'scripts.json'), JSON.stringify(scripts));
  const [before] = readBundle(directory);
  const own = new BundledScript(join(directory, 'bundle.cjs'), join(finalDirectory, 'bundle.cjs'));
  Object.assign(names, exportsOf([before, own], modules));

  write(join(directory, 'package.json'), '{ "type": "module" }');
  const reader = pathToFileURL(join(import.meta.dirname, 'bundle.mjs')).href;
  write(
    join(directory, 'provide.mjs'),
    `import { provideModules, readBundle } from ${JSON.stringify(reader)};\nprovideModules(readBundle(import.meta.dirname));\n`,
  );
  for (const [name, exported] of Object.entries(names))
    write(exporterOf(directory, name), exportOf(name, exported));
  // `test-environment.mjs` loads it once for all test files of a worker.
  write(exporterOf(directory, 'playwright-core'), exportOf('playwright-core', ['chromium']));
  const pathFrom = (file, target) => JSON.stringify(relative(dirname(file), target));
  const providing = (file) => `import ${pathFrom(file, join(directory, 'provide.mjs'))};\n`;
  const withImports = (file, text) =>
    text.replaceAll(IMPORT, (found, name) =>
      names[name] ? found.replace(/["'][^"']+["']$/, pathFrom(file, exporterOf(directory, name))) : found,
    );
  for (const program of PROGRAMS) {
    const file = join(directory, 'dist', program);
    write(file.replace(/\.js$/, '.program.js'), withImports(file, texts.get(program)));
    write(file, `${providing(file)}await import("./${basename(program, '.js')}.program.js");\n`);
  }
  for (const name of demo) {
    const file = join(directory, 'scripts', name);
    write(file, providing(file) + withImports(file, readFileSync(join(ROOT, 'scripts', name), 'utf8')));
  }
}

/** The file that exports a module of the bundle. */
function exporterOf(directory, name) {
  return dist.includes(name) ? join(directory, 'dist', name) : join(directory, 'npm', `${name}.js`);
}

/** Bundles modules into a script that returns a function for each name. */
async function bundle(outfile, modules, plugin = undefined) {
  const namespace = 'module';
  const all = [...modules.keys()].map(
    (name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(`${namespace}:${name}`)}).module`,
  );
  const entries = {
    name: 'entries',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^module:/ }, ({ path }) => ({
        path: path.slice(namespace.length + 1),
        namespace,
      }));
      onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `import * as module from ${JSON.stringify(modules.get(path))};\nexport { module };`,
        resolveDir: ROOT,
      }));
    },
  };
  const ownPath = {
    name: 'own path',
    setup({ onLoad }) {
      onLoad({ filter: /\.[cm]?js$/, namespace: 'file' }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const contents = withPath(text, path);
        return contents === text ? undefined : { contents };
      });
    },
  };
  // Loading it takes longer than finding a current bundle.
  const { build } = await import('esbuild');
  await build({
    stdin: { contents: `module.exports = {\n${all.join(',\n')}\n};`, resolveDir: ROOT },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    keepNames: true,
    // Each program reads the script when it starts. Source maps need the lines of the sources.
    minifyWhitespace: plugin === undefined,
    // Becomes `require`, which `provideModules` replaces.
    supported: { 'dynamic-import': false },
    absWorkingDir: ROOT,
    // A production installation does not contain the packages for development either.
    external: [
      NATIVE,
      ...Object.keys(manifest.devDependencies).filter((name) => !TEST_LIBRARIES.includes(name)),
    ],
    sourcemap: plugin ? 'linked' : false,
    sourcesContent: false,
    plugins: [optional(), entries, ...(plugin ? [plugin] : []), ownPath],
    logLevel: 'error',
  });
  writeFileSync(outfile, withUsualNames(asAscii(readFileSync(outfile, 'utf8'))));
}

/**
 * Makes the bundle set only the names of functions and classes that the bundler has renamed. It would set the name of each
 * function whenever it is created, which took 3 % of the CPU time of all tests. Arrow functions stay without a name.
 */
function withUsualNames(text) {
  const isUsual = 'target.name === value || (target.name === "" && target.prototype === undefined)';
  return text
    .replaceAll(/(?<=[;{}\n] *)__name\(([$\w]+), ?"\1"\);/g, '')
    .replace(
      /\bvar __name ?=[^;]*;/,
      `var __name = (target, value) => ${isUsual} ? target : __defProp(target, "name", { value, configurable: true });`,
    );
}

/** Escapes what esbuild does not: regular expressions. V8 needs twice as much time and memory for a script with other characters. */
function asAscii(script) {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(script)) throw new Error('A raw string cannot be escaped.');
  return script.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

/** Packages that dependencies use if they are installed stay imports, which fail as before. */
function optional() {
  return {
    name: 'optional',
    setup(esbuild) {
      esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...options }) => {
        if (pluginData === 'resolved' || isBuiltin(path)) return undefined;
        const found = await esbuild.resolve(path, { ...options, pluginData: 'resolved' });
        return found.errors.length > 0 ? { path, external: true } : found;
      });
    },
  };
}

/** Replaces the path of a file by a constant, because the bundle is another file. */
function withPath(text, path) {
  const url = JSON.stringify(pathToFileURL(path).href);
  const [file, folder] = [path, dirname(path)].map((each) => JSON.stringify(each));
  const replaced = text
    .replaceAll('import.meta.dirname', folder)
    .replaceAll('import.meta.filename', file)
    .replaceAll('import.meta.url', url)
    .replaceAll('import.meta.resolve', 'require.resolve')
    // TypeORM imports migrations by the addresses of their files.
    .replaceAll('Function("return filePath => import(filePath)")()', '(async (url) => require(url))');
  const own =
    /\b__(?:dirname|filename)\b/.test(text) && !/\b(?:const|let|var) __(?:dirname|filename)\b/.test(text);
  return own ? `var __filename = ${file}, __dirname = ${folder};${replaced}` : replaced;
}

/** Runs the modules of the last script, stores the code that V8 has compiled for them, and returns the names of their exports. */
function exportsOf(scripts, modules) {
  const read = provideModules(scripts);
  const names = Object.fromEntries(modules.map((name) => [name, Object.keys(read(name))]));
  const { file, script } = scripts.at(-1);
  writeFileSync(`${file}.cache`, script.createCachedData());
  return names;
}

/** Returns a directory for the hash, and builds it if it does not exist. */
async function provide(kind, hash, buildInto) {
  const directory = join(CACHE, `${kind}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(directory)) {
    const now = new Date();
    utimesSync(directory, now, now);
    return directory;
  }
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  try {
    await buildInto(draft, directory);
    // Renaming is atomic: no other run uses half a bundle.
    renameSync(draft, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return directory;
}

function removeOld() {
  for (const name of readdirSync(CACHE)) {
    const directory = join(CACHE, name);
    if (Date.now() - statSync(directory).mtimeMs > MAX_AGE_MS)
      rmSync(directory, { recursive: true, force: true });
  }
}

function filesIn(folder, pattern) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      // Packages of `test/tools`.
      if (entry.isDirectory() && entry.name !== 'node_modules')
        return filesIn(join(folder, entry.name), pattern).map((file) => join(entry.name, file));
      return entry.isFile() && pattern.test(entry.name) ? [entry.name] : [];
    })
    .sort();
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
