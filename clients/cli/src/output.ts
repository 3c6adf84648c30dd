import { styleText } from 'node:util';
import { reportOf, EXIT } from './failures.js';
import { printable, printableJson } from './printable.js';

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** A text that has a style on a terminal. */
export interface Styled {
  readonly style: Style;
  readonly text: string;
}

/** A line of text, or its columns. */
export type Line = string | readonly (string | Styled)[];

/** Writes results to standard output, and everything else to standard error. Masks control characters. */
export class Output {
  constructor(
    /** Whether results are JSON, for programs. */
    readonly isJson: boolean,
    private readonly hasColors: boolean = process.stdout.isTTY && !process.env['NO_COLOR'],
  ) {}

  /** Writes a result: as JSON, or as lines for people. */
  result(value: unknown, ...lines: readonly Line[]): void {
    if (this.isJson) process.stdout.write(`${printableJson(value)}\n`);
    else this.lines(lines);
  }

  /** Writes a list: as a JSON array, or as a table. */
  table(rows: readonly object[], columns: Readonly<Record<string, (row: never) => unknown>>): void {
    if (this.isJson) return this.result(rows);
    const cells = rows.map((row) => Object.values(columns).map((column) => cellOf(column(row as never))));
    const widths = Object.keys(columns).map((name, index) =>
      cells.reduce((width, row) => Math.max(width, row[index]!.length), name.length),
    );
    const [header = '', ...lines] = [Object.keys(columns), ...cells].map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    );
    this.lines([[styled('bold', header)], ...lines]);
  }

  /** Tells the user what is happening. */
  progress(text: string): void {
    process.stderr.write(`${printable(text)}\n`);
  }

  /** @returns the exit code */
  failure(error: unknown): number {
    const report = reportOf(error);
    if (!report) {
      for (const line of ((error as Error).stack ?? String(error)).split('\n')) this.progress(line);
      return EXIT.failure;
    }
    const { message, hint, details, exitCode } = report;
    if (this.isJson) {
      process.stderr.write(`${printableJson({ error_message: message, ...details, hint })}\n`);
      return exitCode;
    }
    this.progress(`Error: ${message}`);
    for (const [name, value] of Object.entries(details)) this.progress(`  ${name}: ${value}`);
    if (hint !== undefined) this.progress(hint);
    return exitCode;
  }

  private lines(lines: readonly Line[]): void {
    process.stdout.write(`${lines.map((line) => this.textOf(line)).join('\n')}\n`);
  }

  private textOf(line: Line): string {
    if (typeof line === 'string') return printable(line);
    return line
      .map((column) => {
        if (typeof column === 'string') return printable(column);
        const text = printable(column.text);
        return this.hasColors ? styleText(column.style, text) : text;
      })
      .join('  ');
  }
}

export function styled(style: Style, text: string): Styled {
  return { style, text };
}

/** A status code in the color of its outcome. */
export function styledStatus(status: number): Styled {
  const text = status === 0 ? '---' : String(status);
  return styled(
    status >= 200 && status < 300 ? 'green' : status >= 300 && status < 500 ? 'yellow' : 'red',
    text,
  );
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}

/** Lists the fields of an object, one a line. An object in a field has lines of its own. */
export function fieldsOf(value: object): string[] {
  const width = 2 + Math.max(...Object.keys(value).map((name) => name.length));
  return Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    const text =
      typeof field === 'object' && field !== null ? printableJson(field, 2).split('\n') : [String(field)];
    return [`${name.padEnd(width)}${text[0]}`, ...text.slice(1)];
  });
}

/** `2026-01-31T08:15:30.123Z` without the T, which is easier to read. */
export function timeOf(datetime: string): string {
  return datetime.replace('T', ' ');
}
