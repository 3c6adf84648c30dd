import { IsIn } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

const LEVELS = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const;

@Configuration('Logging')
export class LoggingConfiguration {
  @EnvironmentVariable(
    'LOG_LEVEL',
    'The least severe level that is written: `fatal`, `error`, `warn`, `log`, `debug` or `verbose`.',
  )
  @IsIn(LEVELS)
  level: string = 'log';

  @EnvironmentVariable('LOG_FORMAT', '`json` for machines, `text` for people.')
  @IsIn(['json', 'text'])
  format: string = 'json';

  /** The level and all that are more severe. */
  get levels(): (typeof LEVELS)[number][] {
    return LEVELS.slice(0, LEVELS.findIndex((level) => level === this.level) + 1);
  }
}
