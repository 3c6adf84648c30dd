import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf, type Block } from '../support/documents.js';
import { Shell } from '../support/shell.js';

/*
 * docs/extending.md is done as it stands, with a copy of the sources. What is no `sh` begins with a comment that names a file and
 * where in it the rest belongs: after, before or instead of the first line that has the words.
 */

const PAGE = 'docs/extending.md';
const ROOT = join(import.meta.dirname, '..', '..');
const COPIED = [
  'src',
  'test',
  'docs',
  'examples',
  'scripts',
  'CONTRIBUTING.md',
  'README.md',
  'jest.config.mjs',
  'knip.json',
  'nest-cli.json',
  'openapi.json',
  'ormconfig.ts',
  'package.json',
  '.prettierrc.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const TIMEOUT = 300_000;
/** `// src/a.ts, after: constructor` */
const PLACE = /^(?:\/\/|<!--) (\S+), (after|before|instead of): (.+?)(?: -->)?\n/;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'extending-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(
  'an operation, an event and a module are added as the page says',
  async () => {
    const shell = new Shell(folder, {});
    try {
      for (const block of blocksOf(PAGE)) {
        if (block.language === 'sh') await shell.run(block.code);
        else insert(block);
      }
    } finally {
      await shell.end();
    }
  },
  TIMEOUT,
);

function insert({ line, code }: Block): void {
  const [first, file = '', where, words = ''] = PLACE.exec(code) ?? [];
  if (first === undefined) throw new Error(`${PAGE}:${line} does not say where it belongs`);
  const path = join(folder, file);
  const lines = readFileSync(path, 'utf8').split('\n');
  const found = lines.findIndex((text) => text.includes(words));
  if (found < 0) throw new Error(`${PAGE}:${line}: ${file} has no "${words}"`);
  const addition = code.slice(first.length).trimEnd().split('\n');
  if (where === 'before') lines.splice(found, 0, ...addition);
  else if (where === 'after') lines.splice(found + 1, 0, ...addition);
  else lines.splice(found, 1, ...addition);
  writeFileSync(path, lines.join('\n'));
}
