import { IsIn } from 'class-validator';
import { Configuration, EnvironmentVariable, Satisfies } from '../config/index.js';

const LEVELS = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const;

type Level = (typeof LEVELS)[number];

/** The names of other programs. Platforms often set this variable for all of their programs. */
const OTHER_NAMES: ReadonlyMap<string, Level> = new Map([
  ['critical', 'fatal'],
  ['warning', 'warn'],
  ['info', 'log'],
  ['trace', 'verbose'],
]);

function levelOf(name: unknown): Level | undefined {
  const text = String(name).toLowerCase();
  return OTHER_NAMES.get(text) ?? LEVELS.find((level) => level === text);
}

const isLevel = (name: unknown): boolean => levelOf(name) !== undefined;

@Configuration('Logging')
export class LoggingConfiguration {
  @EnvironmentVariable(
    'LOG_LEVEL',
    'Least severe level that is logged: `fatal`, `error`, `warn`, `log`, `debug` or `verbose`. Other usual names, such as `info`, are understood.',
  )
  @Satisfies(isLevel, `$property must be one of the following values: ${LEVELS.join(', ')}`)
  level: string = 'log';

  @EnvironmentVariable('LOG_FORMAT', 'Log format: `json` for machines, `text` for people.')
  @IsIn(['json', 'text'])
  format: string = 'json';

  /** The configured level and all more severe levels. */
  get levels(): Level[] {
    return LEVELS.slice(0, LEVELS.findIndex((level) => level === levelOf(this.level)) + 1);
  }
}
