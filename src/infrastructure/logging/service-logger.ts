import { ConsoleLogger, Injectable } from '@nestjs/common';
import { REDACTED_PROPERTIES, redactText } from './redaction.js';
import type { LoggingConfiguration } from './logging.configuration.js';

const STARTUP_CONTEXTS = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

class PendingLines {
  private lines = '';

  constructor() {
    // Also after an uncaught exception and `process.exit()`.
    process.on('exit', () => this.flush());
  }

  write(line: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    if (stream === 'stderr') {
      this.flush();
      process.stderr.write(line);
      return;
    }
    if (this.lines === '') setImmediate(() => this.flush());
    this.lines += line;
  }

  private flush(): void {
    if (this.lines !== '') process.stdout.write(this.lines);
    this.lines = '';
  }
}

const output = new PendingLines();

/**
 * Nest's JSON logger with redaction: properties by name (Nest's own redaction), and everything that looks like
 * a secret in the finished line, which covers messages and stack traces.
 */
@Injectable()
export class ServiceLogger extends ConsoleLogger {
  constructor(configuration: LoggingConfiguration) {
    super({
      json: configuration.format === 'json',
      colors: false,
      logLevels: configuration.levels,
      flattenParams: true,
      redact: [...REDACTED_PROPERTIES],
    });
  }

  /** Drops Nest's lines about each module and route at startup. */
  override log(message: unknown, ...rest: unknown[]): void {
    if (!STARTUP_CONTEXTS.has(String(rest.at(-1)))) super.log(message, ...rest);
  }

  /** Writes the lines of one turn of the event loop together: a write costs more than the rest of a line. */
  protected override printAsJson(...[message, options]: Parameters<ConsoleLogger['printAsJson']>): void {
    const line = `${this.stringifyJsonLogObject(this.getJsonLogObject(message, options))}\n`;
    output.write(line, options.writeStreamType);
  }

  protected override stringifyJsonLogObject(logObject: Record<string, unknown>): string {
    // JSON.stringify is faster. Nest's serialization handles cycles and huge objects, which flat lines do not contain.
    const line = isFlat(logObject) ? JSON.stringify(logObject) : super.stringifyJsonLogObject(logObject);
    return redactText(line);
  }

  protected override formatMessage(...parts: Parameters<ConsoleLogger['formatMessage']>): string {
    return redactText(super.formatMessage(...parts));
  }

  /** Nest writes the stack as text past `formatMessage`. */
  protected override printStackTrace(stack: string): void {
    // Nest passes undefined for an error without a stack.
    super.printStackTrace(stack && redactText(String(stack)));
  }
}

function isFlat(logObject: Record<string, unknown>): boolean {
  for (const key in logObject) {
    if (typeof logObject[key] === 'object' && logObject[key] !== null) return false;
  }
  return true;
}
