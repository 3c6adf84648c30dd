import { FormFields } from './form-body.js';
import { cpuTimeOf } from '../../../test/support/cpu-time.js';

const formOf = (names: readonly string[]): FormFields => new FormFields(new URLSearchParams(names.join('&')));

describe('FormFields', () => {
  it('finds a field that was sent more than once', () => {
    expect(formOf(['a', 'b', 'c', 'b']).repeated).toBe('b');
    expect(formOf(['a=1', 'b=2', 'a=1']).repeated).toBe('a');
    expect(formOf(['a', 'A', 'b']).repeated).toBeUndefined();
  });

  it('takes linear time for many fields', () => {
    const form = formOf(Array.from({ length: 40_000 }, (_, index) => index.toString(36)));
    expect(cpuTimeOf(() => expect(form.repeated).toBeUndefined())).toBeLessThan(5_000);
  });
});
