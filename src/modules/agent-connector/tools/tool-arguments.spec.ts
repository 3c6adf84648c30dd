import { z } from 'zod';
import { cpuTimeOf } from '../../../../test/support/programs/cpu-time.js';
import { argumentsIn, readArguments } from './tool-arguments.js';

const INPUT = z.strictObject({ names: z.array(z.string()), limit: z.int().optional() });

/** The SDK refuses arguments that are not an object. */
function read(value: unknown): unknown {
  const given = argumentsIn(value);
  return typeof given === 'object' && given ? readArguments(given, INPUT) : given;
}

describe('The arguments of a tool call', () => {
  const members = Array.from({ length: 40_000 }, (_, index) => `"n${index}":1`).join();

  it.each<[string, unknown]>([
    ['a text of blanks', { names: `${' '.repeat(100_000)}x` }],
    ['a text of blanks that ends with a word for nothing', { limit: `${' '.repeat(100_000)}null x` }],
    ['JSON text with many members', `{${members}}`],
    ['JSON text with many members in JSON text', JSON.stringify(`{${members}}`)],
    ['a list in JSON text with many members', { names: `[{${members}}]` }],
  ])('take little time to read: %s', (_what, value) => {
    expect(cpuTimeOf(() => read(value))).toBeLessThan(100);
  });

  it('are not read as JSON text that has more values or levels than a request can have', () => {
    const names = Array<string>(2_001).fill('a');
    expect(read({ names: JSON.stringify(names.slice(1)) })).toEqual({ names: names.slice(1) });
    expect(read({ names: JSON.stringify(names) })).toEqual({ names: JSON.stringify(names) });
    const nested = '['.repeat(33) + ']'.repeat(33);
    expect(read({ names: nested })).toEqual({ names: [nested] });
    expect(argumentsIn(nested)).toBe(nested);
  });
});
