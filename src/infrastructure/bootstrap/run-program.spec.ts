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
});
