import { pipeline, Readable } from 'node:stream';
import { Logger, StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify';
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

const CSV = {
  header: true,
  // Keeps spreadsheets from evaluating values that users typed as formulas.
  escape_formulas: true,
  cast: { string: printableCell, boolean: String, date: (value: Date): string => value.toISOString() },
};

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
  rows: AsyncIterable<object>,
  isDownload = false,
): Readable {
  if (format === 'ndjson') return Readable.from(lines(rows));
  // The error of a failed row is that of the returned stream, too.
  return pipeline(
    Readable.from(rows),
    stringify({ ...CSV, bom: isDownload, columns: [...columns] }),
    () => undefined,
  );
}

async function* lines(rows: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${printableJson(row)}\n`;
}

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

interface ExportOptions {
  readonly format: ExportFormat;
  /** What the rows are, such as `audit-log`. */
  readonly name: string;
  /** Whose rows they are. */
  readonly organizationName: string;
  /** The first and the last time that rows may have, if the export is limited to a period. */
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  /** The columns of a CSV file; each may be a path into the row, such as `actor.name`. */
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<object>;
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
