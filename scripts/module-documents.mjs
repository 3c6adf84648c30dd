/*
 * `node scripts/module-documents.mjs` writes docs/architecture-modules.md from the doc comments of the module classes and from
 * what the modules import. A test fails if the committed page is stale.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';

const MODULES = 'src/modules/';
export const PAGE = 'docs/architecture-modules.md';
const IMPORT = /\b(?:from|import\(?)\s*'(\.[^']+)'/g;
/** Also of a global module. */
const DOC_COMMENT = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*(?:@Global\(\)\s*)?@Module\(/;

const moduleOf = (path) => (path.startsWith(MODULES) ? path.split('/')[2] : undefined);

/**
 * Returns the modules that each module imports, also as types.
 *
 * @param sources the texts of files by their paths, without specs
 */
export function moduleDependencies(sources) {
  const used = {};
  for (const [path, text] of sources) {
    const user = moduleOf(path);
    if (user === undefined) continue;
    used[user] ??= new Set();
    for (const [, specifier] of text.matchAll(IMPORT)) {
      const target = moduleOf(posix.join(posix.dirname(path), specifier));
      if (target !== undefined && target !== user) used[user].add(target);
    }
  }
  const entries = Object.entries(used).map(([name, modules]) => [name, [...modules].toSorted()]);
  return Object.fromEntries(entries.toSorted(([left], [right]) => left.localeCompare(right)));
}

/** Returns the text of the page. @param sources as of `moduleDependencies` */
export function modulesPage(sources) {
  const rows = Object.entries(moduleDependencies(sources)).map(([name, uses]) => {
    const wiring = `${MODULES}${name}/${name}.module.ts`;
    const [, comment] = DOC_COMMENT.exec(sources.get(wiring) ?? '') ?? [];
    if (comment === undefined)
      throw new Error(`${wiring}: add a doc comment that says what the module does.`);
    const responsibility = comment.replaceAll(/\s*\n \*?\s*/g, ' ').trim();
    return `| \`${name}\` | ${responsibility} | ${uses.map((used) => `\`${used}\``).join(', ')} |`;
  });
  return [
    '# Modules',
    '<!-- Generated from the code by `npm run docs`. Do not edit this page; change the code. -->',
    'These are the folders of `src/modules`, what each is responsible for, and the other modules that its code imports. Operations 1 to 8 are numbered ' +
      'in the [README](../README.md#operations). [architecture.md](architecture.md#modules) describes how a module is built.',
    ['| module | responsibility | uses |', '| --- | --- | --- |', ...rows].join('\n'),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function readModules() {
  const files = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
    .map((file) => MODULES + file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.spec.ts'));
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

const [, program] = process.argv;
if (program === import.meta.filename) writeFileSync(PAGE, modulesPage(readModules()));
