import { ConsoleLogger, Injectable } from '@nestjs/common';
import { LoggingConfiguration } from './logging.configuration.js';
import { REDACTED_PROPERTIES, redactText } from './redaction.js';

/**
 * Nest's JSON logger with our one redaction list: properties by name (Nest's own redaction), and
 * whatever looks like a secret in the finished line, which also covers messages and stack traces.
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

  protected override stringifyJsonLogObject(logObject: Record<string, unknown>): string {
    return redactText(super.stringifyJsonLogObject(logObject));
  }

  protected override formatMessage(...parts: Parameters<ConsoleLogger['formatMessage']>): string {
    return redactText(super.formatMessage(...parts));
  }
}
