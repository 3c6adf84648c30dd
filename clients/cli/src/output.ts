import { styleText } from 'node:util';
import { reportOf, EXIT } from './failures.js';

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** Writes results to standard output, and everything else to standard error. */
export class Output {
  constructor(
    /** Whether results are JSON, for programs. */
    readonly isJson: boolean,
    private readonly hasColors: boolean = process.stdout.isTTY && !process.env['NO_COLOR'],
  ) {}

  /** Writes a result: as JSON, or as the text for people. */
  result(value: unknown, text: string): void {
    process.stdout.write(this.isJson ? `${JSON.stringify(value)}\n` : `${text}\n`);
  }

  /** Writes a list: as a JSON array, or as a table. */
  table(rows: readonly object[], columns: Readonly<Record<string, (row: never) => unknown>>): void {
    if (this.isJson) {
      process.stdout.write(`${JSON.stringify(rows)}\n`);
      return;
    }
    const cells = rows.map((row) => Object.values(columns).map((column) => textOf(column(row as never))));
    const all = [Object.keys(columns), ...cells];
    const widths = Object.keys(columns).map((_, index) => Math.max(...all.map((row) => row[index]!.length)));
    for (const [number, row] of all.entries()) {
      const line = row.map((cell, index) => cell.padEnd(widths[index]!)).join('  ');
      process.stdout.write(`${number === 0 ? this.styled('bold', line.trimEnd()) : line.trimEnd()}\n`);
    }
  }

  /** Tells the user what is happening. */
  progress(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** @returns the exit code */
  failure(error: unknown): number {
    const report = reportOf(error);
    if (!report) {
      process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
      return EXIT.failure;
    }
    const { message, hint, details, exitCode } = report;
    if (this.isJson) {
      process.stderr.write(`${JSON.stringify({ error_message: message, ...details, hint })}\n`);
      return exitCode;
    }
    const lines = [
      `Error: ${message}`,
      ...Object.entries(details).map(([name, value]) => `  ${name}: ${value}`),
      ...(hint === undefined ? [] : [hint]),
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
    return exitCode;
  }

  styled(style: Style, text: string): string {
    return this.hasColors ? styleText(style, text) : text;
  }

  /** A status code in the color of its outcome. */
  status(status: number): string {
    const text = status === 0 ? '---' : String(status);
    return this.styled(
      status >= 200 && status < 300 ? 'green' : status >= 300 && status < 500 ? 'yellow' : 'red',
      text,
    );
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** `2026-01-31T08:15:30.123Z` without the T, which is easier to read. */
export function timeOf(datetime: string): string {
  return datetime.replace('T', ' ');
}
