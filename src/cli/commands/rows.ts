import type { INestApplicationContext } from '@nestjs/common';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { EXPORT_FORMATS, exportedRows } from '../../infrastructure/pages/index.js';
import { OperatorAudit, type OperatorChange } from '../../modules/audit-logs/index.js';

const KEEP_OPEN = { end: false };

/**
 * Streams rows to standard output. A column of a CSV file may be a path into the row, such as `actor.name`.
 *
 * @throws OperatorError if the format is neither csv nor ndjson
 */
export async function exportRows(
  format: string,
  columns: readonly string[],
  rows: AsyncIterable<object>,
): Promise<void> {
  const known = EXPORT_FORMATS.find((each) => each === format);
  if (!known) throw new OperatorError('The format must be csv or ndjson.');
  await finishWriting(pipeline(exportedRows(known, columns, rows), process.stdout, KEEP_OPEN));
}

/** Streams rows to standard output, one line for each row. */
export async function writeLines<Row>(rows: AsyncIterable<Row>, format: (row: Row) => string): Promise<void> {
  await finishWriting(pipeline(formatLines(rows, format), process.stdout, KEEP_OPEN));
}

export async function* withProgress<Entry>(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  let count = 0;
  for await (const entry of entries) {
    count += 1;
    if (process.stderr.isTTY && count % 1_000 === 0) process.stderr.write(`\r${count} entries`);
    yield entry;
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${count} entries\n`);
}

/** Waits until everything is written, or cannot be written, which `main.ts` reports. */
async function finishWriting(writing: Promise<void>): Promise<void> {
  await writing.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ENOSPC') throw error;
  });
}

async function* formatLines<Row>(
  rows: AsyncIterable<Row>,
  format: (row: Row) => string,
): AsyncGenerator<string> {
  for await (const row of rows) yield `${format(row)}\n`;
}

/** Records an export in the audit log before its first row is read, and returns the rows. */
export async function* withAuditEntry<Row>(
  app: INestApplicationContext,
  change: OperatorChange,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row> {
  await app.get(OperatorAudit).record(change);
  yield* rows;
}
