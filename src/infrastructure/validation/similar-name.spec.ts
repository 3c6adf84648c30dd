import fc from 'fast-check';
import { similarName } from './similar-name.js';

const FIELDS = ['expires_in', 'phone_number', 'url'];

describe('similarName', () => {
  it.each([
    ['expiresIn', 'expires_in'],
    ['ExpiresIn', 'expires_in'],
    ['expires-in', 'expires_in'],
    ['expiresin', 'expires_in'],
    ['EXPIRES_IN', 'expires_in'],
    ['expire_in', 'expires_in'],
    ['expiress_in', 'expires_in'],
    ['expires_on', 'expires_in'],
    ['epxires_in', 'expires_in'],
    ['expires_ni', 'expires_in'],
    ['xexpires_in', 'expires_in'],
    ['phoneNumber', 'phone_number'],
    ['phone_numbers', 'phone_number'],
    ['uri', 'url'],
    ['URL', 'url'],
    ['ur', 'url'],
  ])('finds the field meant by %s', (name, field) => expect(similarName(name, FIELDS)).toBe(field));

  it.each(['', 'expiry', 'expires', 'in_expires', 'exipres_on', 'lru', 'phone', 'e-x', 'x'.repeat(100_000)])(
    'finds nothing for %s',
    (name) => expect(similarName(name, FIELDS)).toBeUndefined(),
  );

  it('finds a name after any one edit', () => {
    const field = fc.stringMatching(/^[a-z_]{2,20}$/);
    const letter = fc.stringMatching(/^[a-z]$/);
    fc.assert(
      fc.property(field, fc.nat({ max: 18 }), letter, (name, position, added) => {
        const at = position % (name.length - 1);
        for (const edited of [
          name.slice(0, at) + name.slice(at + 1),
          name.slice(0, at) + added + name.slice(at),
          name.slice(0, at) + added + name.slice(at + 1),
          name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2),
        ])
          expect([edited, similarName(edited, [name])]).toEqual([edited, name]);
      }),
    );
  });
});
