import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { OperatorError } from '../../infrastructure/errors/index.js';

const KEEP_OPEN = { end: false };
const CSV = {
  header: true,
  // A spreadsheet must not run what somebody typed.
  escape_formulas: true,
  cast: { boolean: String, date: (value: Date): string => value.toISOString() },
};

/**
 * Writes rows to standard output as they come. A column of CSV may be a path into the row: `actor.name`.
 *
 * @throws OperatorError when the format is another than csv or ndjson
 */
export async function exportRows(
  format: string,
  columns: readonly string[],
  rows: AsyncIterable<object>,
): Promise<void> {
  if (format === 'csv') {
    const table = stringify({ ...CSV, columns: [...columns] });
    await untilReaderLeaves(pipeline(Readable.from(rows), table, process.stdout, KEEP_OPEN));
  } else if (format === 'ndjson') {
    await writeLines(rows, JSON.stringify);
  } else {
    throw new OperatorError('The format must be csv or ndjson.');
  }
}

/** Writes a line for each row to standard output, as they come. */
export async function writeLines<Row>(rows: AsyncIterable<Row>, lineOf: (row: Row) => string): Promise<void> {
  await untilReaderLeaves(pipeline(toLines(rows, lineOf), process.stdout, KEEP_OPEN));
}

/** Shows how far an export is, where somebody looks. */
export async function* counted<Entry>(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  let count = 0;
  for await (const entry of entries) {
    count += 1;
    if (process.stderr.isTTY && count % 1_000 === 0) process.stderr.write(`\r${count} entries`);
    yield entry;
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${count} entries\n`);
}

/** `| head` closes the pipe when it has enough: that is the end, not a failure. */
async function untilReaderLeaves(writing: Promise<void>): Promise<void> {
  await writing.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

async function* toLines<Row>(rows: AsyncIterable<Row>, lineOf: (row: Row) => string): AsyncGenerator<string> {
  for await (const row of rows) yield `${lineOf(row)}\n`;
}
