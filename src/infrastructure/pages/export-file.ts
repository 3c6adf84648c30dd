import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger, StreamableFile } from '@nestjs/common';
import { printableCell, printableJson } from '../logging/index.js';
import { enumeration } from '../schemas/index.js';
import { EnumField } from '../validation/index.js';

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
const EXPORT_FORMAT = enumeration('ExportFormat', EXPORT_FORMATS, 'The format of an export.');

/** The parameter of a query that chooses the format of an export. */
export function ExportFormatField(): PropertyDecorator {
  return EnumField(EXPORT_FORMAT, { in: 'query', description: 'The format of the file.', example: 'csv' });
}

/** Single rows, or rows as they are read: many at a time, which is faster. */
type RowsOfExport = AsyncIterable<object | readonly object[]>;

/** Rows take about 10 microseconds each. Others are served in between. */
const ROWS_PER_TURN = 100;
/** Characters that are sent at a time. */
const CHUNK_LENGTH = 65_536;

/**
 * Returns rows as a stream of text, which reads them as fast as it is read. If reading a row fails, the stream fails with the
 * same error.
 *
 * @param columns the columns of a CSV file; each may be a path into the row, such as `actor.name`
 * @param isDownload whether a CSV file begins with a byte order mark, without which spreadsheets do not read it as UTF-8
 */
export function exportedRows(
  format: ExportFormat,
  columns: readonly string[],
  rows: RowsOfExport,
  isDownload = false,
): Readable {
  if (format === 'ndjson') return Readable.from(inTurns(rows, (row) => `${printableJson(row)}\n`));
  const paths = columns.map((column) => column.split('.'));
  const head = `${isDownload ? BYTE_ORDER_MARK : ''}${columns.join(',')}\n`;
  return Readable.from(
    inTurns(rows, (row) => `${paths.map((path) => csvCell(valueAt(path, row))).join(',')}\n`, head),
  );
}

async function* inTurns(
  rows: RowsOfExport,
  textOf: (row: object) => string,
  head = '',
): AsyncGenerator<string> {
  let text = head;
  let count = 0;
  for await (const part of rows) {
    for (const row of Array.isArray(part) ? (part as object[]) : [part]) {
      text += textOf(row);
      count += 1;
      if (count % ROWS_PER_TURN === 0) await nextTurn();
      if (text.length < CHUNK_LENGTH) continue;
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}

const BYTE_ORDER_MARK = '\uFEFF';
/** Spreadsheets would evaluate values that users typed as formulas. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /[",\r\n]/;

function valueAt(path: readonly string[], row: object): unknown {
  let value: unknown = row;
  for (const name of path) value = (value as Record<string, unknown> | null)?.[name];
  return value;
}

/** Returns a value as RFC 4180 says: objects as JSON, and nothing for null. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string' && typeof value !== 'object') return String(value);
  const cell = typeof value === 'string' ? printableCell(value) : printableJson(value);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

interface ExportOptions {
  readonly format: ExportFormat;
  /** The kind of the rows, such as `audit-log`. */
  readonly name: string;
  /** The organization that the rows belong to. */
  readonly organizationName: string;
  /** The first and the last time that rows may have, if the export is limited to a period. */
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  /** The columns of a CSV file; each may be a path into the row, such as `actor.name`. */
  readonly columns: readonly string[];
  readonly rows: RowsOfExport;
}

/**
 * Returns rows as a file to download. Reads the first row before the response starts, so that an error of the query becomes an
 * error response. A later error interrupts the download, so that nobody takes a part of the rows for all of them.
 */
export async function exportFile(options: ExportOptions): Promise<StreamableFile> {
  const { format, columns, rows } = options;
  const file = new StreamableFile(exportedRows(format, columns, await withFirstRow(rows), true), {
    type: MEDIA_TYPES[format],
    disposition: `attachment; filename="${fileNameOf(options)}.${format}"`,
  });
  return file.setErrorHandler((error, response) => {
    if (response.destroyed) return;
    new Logger('Exports').error('An export was interrupted', error);
    (response as typeof response & { destroy(): void }).destroy();
  });
}

const MAX_ORGANIZATION_LENGTH = 40;

/** Returns for example `acme-inc-request-logs-production-from-2026-11-20-to-2026-11-27`. */
function fileNameOf({ name, organizationName, start, end }: Omit<ExportOptions, 'rows'>): string {
  const organization = organizationName
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join('-')
    .slice(0, MAX_ORGANIZATION_LENGTH);
  const period = [start && `from-${start.slice(0, 10)}`, end && `to-${end.slice(0, 10)}`];
  return [organization, name, ...period].filter(Boolean).join('-');
}

async function withFirstRow<Row>(rows: AsyncIterable<Row>): Promise<AsyncIterable<Row>> {
  const iterator = rows[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}
