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
  const source = Readable.from(rows);
  if (format === 'csv') {
    const table = stringify({ ...CSV, columns: [...columns] });
    await untilReaderLeaves(pipeline(source, table, process.stdout, KEEP_OPEN));
  } else if (format === 'ndjson') {
    await untilReaderLeaves(pipeline(source, toLines, process.stdout, KEEP_OPEN));
  } else {
    throw new OperatorError('The format must be csv or ndjson.');
  }
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

/**
 * Writes lines to standard output as they come, of a source that may wait for long.
 *
 * @param linesUntil is told when the reader has left, and then comes to an end
 */
export async function writeLines(
  linesUntil: (readerLeft: AbortSignal) => AsyncIterable<string>,
): Promise<void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.stdout.once('error', leave);
  try {
    await untilReaderLeaves(pipeline(ended(linesUntil(left.signal)), process.stdout, KEEP_OPEN));
  } finally {
    process.stdout.off('error', leave);
  }
}

/** `| head` closes the pipe when it has enough: that is the end, not a failure. */
async function untilReaderLeaves(writing: Promise<void>): Promise<void> {
  await writing.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

async function* toLines(rows: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

async function* ended(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
