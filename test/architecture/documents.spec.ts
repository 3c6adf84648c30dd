import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOfEverything } from '../../src/openapi.js';
import { referencePages } from '../../src/reference.js';

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
