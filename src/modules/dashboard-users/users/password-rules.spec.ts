import { consistsMainlyOf, hashPassword, isRegular, matchesHash } from './password-rules.js';

it.each([
  'aaaaaaaaaaaa',
  'abababababab',
  'aaaaaaabbbbb',
  'Passw0Passw0',
  '123456789012',
  '987654321098',
  'abcdefghijklm',
])('%s is regular', (password) => expect(isRegular(password)).toBe(true));

it.each(['correct horse battery staple', '12345 mulberries', 'ananas-bananas'])(
  '%s is not regular',
  (password) => expect(isRegular(password)).toBe(false),
);

it.each([
  ['ada.lovelace@example.com', 'ada.lovelace@example.com'],
  ['Ada.Lovelace@Example.com1!', 'ada.lovelace@example.com'],
  ['ada-lovelace-2026', 'ada.lovelace'],
  ['TestOrganization', 'Test organization'],
])('%s consists mainly of %s', (password, name) => expect(consistsMainlyOf(password, name)).toBe(true));

it.each([
  ['ada.lovelace wrote programs', 'ada.lovelace'],
  ['hphphp mulberry', 'hp'],
  ['correct horse battery', ''],
])('%s does not consist mainly of %j', (password, name) =>
  expect(consistsMainlyOf(password, name)).toBe(false),
);

describe('hashPassword', () => {
  it('has the cost that OWASP recommends', async () => {
    const hash = await hashPassword('correct horse battery');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect([await matchesHash(hash, 'correct horse battery'), await matchesHash(hash, 'another')]).toEqual([
      true,
      false,
    ]);
  });
});
