import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOfEverything } from '../../src/openapi.js';
import { referencePages } from '../../src/reference.js';
import { MODULE_ARROWS } from './dependency-rules.js';

const committed = (file: string): string => readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8');

/** Jest's difference of two texts, under the sentence that says what to do. */
function expectFresh(file: string, written: string, command: string): void {
  const stale = `${file} is stale: run \`${command}\` and commit what it writes.`;
  expect({ [stale]: committed(file) }).toEqual({ [stale]: written });
}

describe('Documents that are written from the code', () => {
  it('openapi.json', async () => {
    const document = await documentOfEverything();
    expectFresh('openapi.json', `${JSON.stringify(document, null, 2)}\n`, 'npm run openapi');
  });

  it.each(Object.entries(referencePages()))('%s', (file, text) => expectFresh(file, text, 'npm run docs'));
});

describe('docs/architecture.md', () => {
  const rows = [...committed('docs/architecture.md').matchAll(/^\| `([a-z-]+)` +\|[^|]+\|(.*)/gm)];

  it.each(['modules', 'infrastructure'])('has each folder of %s in a table', (place) => {
    const folders = readdirSync(join(import.meta.dirname, '..', '..', 'src', place));
    const named = rows.map(([, name]) => name);
    expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
  });

  it('says of each module which others it uses', () => {
    const said = rows
      .filter(([, name = '']) => name in MODULE_ARROWS)
      .map(([, name = '', uses = '']) => [name, [...uses.matchAll(/`([a-z-]+)`/g)].map(([, used]) => used)]);
    const allowed = Object.entries(MODULE_ARROWS).map(([name, uses]) => [name, uses]);
    const inOrder = (arrows: typeof allowed | typeof said) =>
      Object.fromEntries(arrows.map(([name, uses]) => [name, [...(uses as string[])].toSorted()]));
    expect(inOrder(said)).toEqual(inOrder(allowed));
  });
});
