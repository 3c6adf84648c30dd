import 'reflect-metadata';
import { loadConfiguration } from '../config/index.js';
import { LoggingConfiguration } from './logging.configuration.js';

const levelsOf = (level: string): readonly string[] =>
  loadConfiguration({ LOG_LEVEL: level }).get(LoggingConfiguration).levels;

describe('LOG_LEVEL', () => {
  it.each([
    ['log', 'log'],
    ['info', 'log'],
    ['INFO', 'log'],
    ['Warn', 'warn'],
    ['warning', 'warn'],
    ['trace', 'verbose'],
    ['critical', 'fatal'],
  ])('can be %s', (level, least) => {
    expect(levelsOf(level).at(-1)).toBe(least);
    expect(levelsOf(level)[0]).toBe('fatal');
  });

  it.each(['all', 'constructor', '3'])('cannot be %s', (level) =>
    expect(() => levelsOf(level)).toThrow(
      'LOG_LEVEL must be one of the following values: fatal, error, warn, log, debug, verbose.',
    ),
  );
});
