import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { exportedRows, exportFile } from './export-file.js';

const USER = 'eve\u001b[2K\u009b31m\r2026-01-31\u0000';

async function* rows(...users: readonly string[]): AsyncGenerator<object> {
  for (const user of users) yield { user };
}

describe('exportedRows', () => {
  it('writes control characters in a CSV file as text, except line breaks and tabs', async () => {
    expect(await text(exportedRows('csv', ['user'], rows(USER, 'a\tb\r\nc\nd', 'zoë 👩‍💻')))).toBe(
      'user\neve\\u{1b}[2K\\u{9b}31m\\u{d}2026-01-31\\u{0}\n"a\tb\r\nc\nd"\nzoë 👩‍💻\n',
    );
  });

  it('escapes control characters in cells with JSON, which does not change the values', async () => {
    const list = (async function* () {
      yield { changes: [{ to: USER }] };
    })();
    const [, cell = ''] = (await text(exportedRows('csv', ['changes'], list))).split('\n');
    expect(cell).toMatch(/^[ -~]+$/);
    expect(JSON.parse(cell.slice(1, -1).replaceAll('""', '"'))).toEqual([{ to: USER }]);
  });

  it('begins a CSV file to download with a byte order mark, and no other', async () => {
    // Reading a stream as text would remove the mark.
    const read = async (stream: Readable): Promise<string> => (await buffer(stream)).toString();
    expect(await read(exportedRows('csv', ['user'], rows('zoë'), true))).toBe('\uFEFFuser\nzoë\n');
    expect(await read(exportedRows('csv', ['user'], rows(), true))).toBe('\uFEFFuser\n');
    expect(await read(exportedRows('csv', ['user'], rows('zoë')))).toBe('user\nzoë\n');
    expect(await read(exportedRows('ndjson', ['user'], rows('zoë'), true))).toBe('{"user":"zoë"}\n');
  });

  it('keeps spreadsheets from evaluating values as formulas', async () => {
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\u001b=1'];
    expect(await text(exportedRows('csv', ['user'], rows(...formulas)))).toBe(
      "user\n'=1+1\n'+1\n'-1\n'@SUM(A1)\n'\t=1\n\\u{1b}=1\n",
    );
  });

  it('escapes control characters in NDJSON, which does not change the values', async () => {
    const line = await text(exportedRows('ndjson', ['user'], rows(`${USER}\u202e`)));
    expect(line).toBe('{"user":"eve\\u001b[2K\\u009b31m\\r2026-01-31\\u0000\\u202e"}\n');
    expect(JSON.parse(line)).toEqual({ user: `${USER}\u202e` });
  });
});

describe('exportFile', () => {
  it.each([
    ['Café Zürich, Inc.', {}, 'cafe-zurich-inc-audit-log.csv'],
    ['../../"; x\r\n', { start: '2026-11-20T00:00:00.000Z' }, 'x-audit-log-from-2026-11-20.csv'],
    ['شركة', { end: '2026-11-27T09:00:00.000Z' }, 'audit-log-to-2026-11-27.csv'],
    ['a'.repeat(255), {}, `${'a'.repeat(40)}-audit-log.csv`],
  ])('names the file after the organization %j and the period', async (organizationName, period, file) => {
    const options = {
      format: 'csv',
      name: 'audit-log',
      organizationName,
      ...period,
      columns: ['user'],
    } as const;
    const { disposition } = (await exportFile({ ...options, rows: rows() })).getHeaders();
    expect(disposition).toBe(`attachment; filename="${file}"`);
  });
});
