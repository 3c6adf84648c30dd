import { Logger, StreamableFile } from '@nestjs/common';
import { exportedRows, type ExportFormat } from './exported-rows.js';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

interface ExportOptions {
  readonly format: ExportFormat;
  /** The name of the file, without the extension. */
  readonly name: string;
  /** The columns of a CSV file; each may be a path into the row, such as `actor.name`. */
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<object>;
}

/**
 * Returns rows as a file to download. Reads the first row before the response starts, so that an error of the query becomes an
 * error response. A later error interrupts the download, so that nobody takes a part of the rows for all of them.
 */
export async function exportFile({ format, name, columns, rows }: ExportOptions): Promise<StreamableFile> {
  const file = new StreamableFile(exportedRows(format, columns, await started(rows)), {
    type: MEDIA_TYPES[format],
    disposition: `attachment; filename="${name}.${format}"`,
  });
  return file.setErrorHandler((error, response) => {
    if (response.destroyed) return;
    new Logger('Exports').error('An export was interrupted', error);
    (response as typeof response & { destroy(): void }).destroy();
  });
}

async function started<Row>(rows: AsyncIterable<Row>): Promise<AsyncIterable<Row>> {
  const iterator = rows[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}
