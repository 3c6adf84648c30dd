/**
 * Compares built-in classes, of which the bundle has others.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { operatorMessageFor } from './run-program.js';

describe('operatorMessageFor', () => {
  it('returns the stack of an error that nobody expects', () => {
    const error = new TypeError('undefined is not a function');
    expect(operatorMessageFor(error)).toBe(error.stack);
  });

  it.each([
    ['the stack of an error', new Error('postgres://user:hunter2@db/x')],
    ['the explanation', Object.assign(new Error('postgres://user:hunter2@db/x'), { code: '53100' })],
    ['a value that is no error', 'postgres://user:hunter2@db/x'],
  ])('masks secrets in %s', (_what, error) => {
    expect(operatorMessageFor(error)).toContain('postgres://[REDACTED]@db/x');
  });

  it('does not say that a database is unreachable that has no more space', () => {
    const message = 'could not extend file "base/5/16384": No space left on device';
    expect(operatorMessageFor(Object.assign(new Error(message), { code: '53100' }))).toBe(
      `The database is not available: ${message}. Run the program again when it is.`,
    );
  });
});
