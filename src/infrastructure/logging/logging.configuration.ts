import { IsIn } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

export const LEVELS = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const;

@Configuration('Logging')
export class LoggingConfiguration {
  @EnvironmentVariable(
    'LOG_LEVEL',
    'Least severe level that is logged: `fatal`, `error`, `warn`, `log`, `debug` or `verbose`.',
  )
  @IsIn(LEVELS)
  level: string = 'log';

  @EnvironmentVariable('LOG_FORMAT', 'Log format: `json` for machines, `text` for people.')
  @IsIn(['json', 'text'])
  format: string = 'json';

  /** The configured level and all more severe levels. */
  get levels(): (typeof LEVELS)[number][] {
    return LEVELS.slice(0, LEVELS.findIndex((level) => level === this.level) + 1);
  }
}
