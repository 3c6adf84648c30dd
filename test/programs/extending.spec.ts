import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { blocksOf, type Block } from '../support/documents/documents.js';
import { Shell } from '../support/programs/shell.js';

/*
 * Runs docs/extending.md and docs/extending-dashboard.md in a copy of the sources. Blocks other than `sh` begin with a comment that names a file and the
 * position of the rest: after, before or instead of the first line that contains the given text.
 */

/** In the order in which a reader follows them. */
const PAGES = ['docs/extending.md', 'docs/extending-dashboard.md'];
const ROOT = join(import.meta.dirname, '..', '..');
const NOT_COPIED = ['.git', '.data', '.artefacts', 'dist', 'node_modules'];
/** Modules with irregular plurals, and the files of their entities. */
const MODULES = [
  ['gift-boxes', 'gift-box.entity.ts'],
  ['addresses', 'address.entity.ts'],
  ['categories', 'category.entity.ts'],
];
/** The files of a new module: its folder and the test of its operations. */
const OWN_FILES = /^(?:src\/modules|test\/e2e)\/(?:gift-cards|gift-boxes|addresses|categories)[./]/;
const OTHER_MIGRATIONS = /\/migrations\/\d+-create-(?!gift-cards)/;
/** Files that builds and the shell write into other folders. */
const BUILT = /^clients\/(?:[^/]+\/)?dist\/|THIRD_PARTY_NOTICES|^\.block-/;
/** Generated files in which no comment says so. */
const WRITTEN = ['openapi.json', 'docs/page-dates.json'];
const GENERATED = /^(?:\/\/|--|#|<!--) Generated /m;
const TIMEOUT_MS = 300_000;
/** `// src/a.ts, after: constructor`, or a new file: `// src/a.ts` */
const LOCATION = /^(?:\/\/|<!--) ([^\s,]+)(?:, (after|before|instead of): (.+?))?(?: -->)?\n/;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'extending-'));
  for (const name of readdirSync(ROOT).filter((each) => !NOT_COPIED.includes(each))) {
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('/node_modules'),
    });
  }
  for (const name of ['node_modules', 'test/tools/node_modules'])
    symlinkSync(join(ROOT, name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// First, so that the checks of the page include these modules.
it.each(MODULES)('the generator names the entity of %s in the singular: %s', async (names, file) => {
  const shell = new Shell(folder);
  try {
    await shell.run(`node scripts/new-module.mjs ${names} && ls src/modules/${names}/${file}`);
  } finally {
    await shell.end();
  }
});

it(
  'a change that follows the pages passes all checks',
  async () => {
    const shell = new Shell(folder);
    try {
      for (const block of PAGES.flatMap(blocksOf)) {
        if (block.language === 'sh') await shell.run(block.code);
        else insert(block);
      }
      await shell.run(`npx prettier --check --log-level=warn --ignore-unknown ${changedFiles().join(' ')}`);
    } finally {
      await shell.end();
    }
  },
  TIMEOUT_MS,
);

it('the change edits at most three files outside of its folder, besides what is generated', () => {
  const edited = changedFiles().filter(
    (file) => !OWN_FILES.test(file) && !OTHER_MIGRATIONS.test(file) && !isGenerated(file),
  );
  expect(edited.toSorted()).toEqual([
    'CHANGELOG.md',
    'src/app.module.ts',
    expect.stringMatching(/^src\/infrastructure\/database\/migrations\/\d+-create-gift-cards\.ts$/),
  ]);
});

/** Whether a command writes the file, such as `npm run docs`. */
function isGenerated(file: string): boolean {
  return WRITTEN.includes(file) || GENERATED.test(readFileSync(join(folder, file), 'utf8'));
}

/** Returns the files that the page, the generator and the commands of the page have written. */
function changedFiles(): string[] {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !NOT_COPIED.includes(name))
    .flatMap((entry) =>
      entry.isFile()
        ? [entry]
        : readdirSync(join(folder, entry.name), { recursive: true, withFileTypes: true }).filter((each) =>
            each.isFile(),
          ),
    )
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !BUILT.test(file));
  const isUnchanged = (file: string): boolean =>
    existsSync(join(ROOT, file)) && readFileSync(join(folder, file)).equals(readFileSync(join(ROOT, file)));
  return files.filter((file) => !isUnchanged(file));
}

function insert({ page, line, code }: Block): void {
  const [first, file = '', position, text = ''] = LOCATION.exec(code) ?? [];
  if (first === undefined) throw new Error(`${page}:${line} has no comment with a file name`);
  const path = join(folder, file);
  const addition = code.slice(first.length);
  if (position === undefined) {
    writeFileSync(path, addition);
    return;
  }
  const lines = readFileSync(path, 'utf8').split('\n');
  const found = lines.findIndex((each) => each.includes(text));
  if (found < 0) throw new Error(`${page}:${line}: ${file} has no "${text}"`);
  const index = position === 'after' ? found + 1 : found;
  lines.splice(index, position === 'instead of' ? 1 : 0, ...addition.replace(/\n$/, '').split('\n'));
  writeFileSync(path, lines.join('\n'));
}
