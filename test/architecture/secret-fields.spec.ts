/** The fields of all forms that contain a secret. */
import { FormFields } from '../../src/infrastructure/http/index.js';
import { sentFormOf } from '../../src/infrastructure/pages/page-exception.filter.js';
import { readSources } from './source-tree.js';

/** Whether a field hides what the user types, works once, or is never shown again. */
const IS_SECRET = /type="password"|\bisCode\b|never shown again/;

const fields = [...readSources()].flatMap(([path, text]) =>
  [...text.matchAll(/<(?:TextField|TextArea)\b[^]*?\/>/g)].map(([field]) => ({ path, field })),
);
const secretNames = fields
  .filter(({ field }) => IS_SECRET.test(field))
  .flatMap(({ field }) => /\bname="([^"]+)"/.exec(field)?.[1] ?? []);

describe('A form that is sent again', () => {
  it('contains no secret of any form', () => {
    expect(secretNames).toEqual(
      expect.arrayContaining(['password', 'authorization', 'header_lines', 'code']),
    );
    const form = new FormFields(new URLSearchParams(secretNames.map((name) => [name, 'x'])));
    expect(sentFormOf(form).fields).toEqual([]);
  });
});
