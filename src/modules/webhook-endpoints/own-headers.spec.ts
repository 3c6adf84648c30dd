import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';
import { headersIn } from './own-headers.js';

describe('The lines with the headers of an endpoint', () => {
  it('are names, colons and values, with any blanks around them', () => {
    expect(headersIn('  X-Api-Key :  a  b \r\n\r\nX-Old:\nX-Other:a:b')).toEqual({
      'X-Api-Key': 'a  b',
      'X-Old': null,
      'X-Other': 'a:b',
    });
  });

  it.each([': x', 'X Y: z', 'X'])('must have a name and a colon: %j', (line) => {
    expect(headersIn(line)).toBeUndefined();
  });

  it.each([`a: b${' '.repeat(30_000)}c`, `${' '.repeat(30_000)}a`, `a${' '.repeat(30_000)}b`])(
    'take little time to read if they are long',
    (line) => {
      expect(cpuTimeOf(() => headersIn(line))).toBeLessThan(100);
    },
  );
});
