import { isVerified } from './openid-provider.js';

const EMAIL = 'ada@example.com';
const GOOGLE = 'https://accounts.google.com';
const OWN = 'https://login.example.com';

describe('The address that an identity provider sends', () => {
  it.each([
    [OWN, {}, true],
    [OWN, { email_verified: true }, true],
    [OWN, { email_verified: false }, false],
    [OWN, { email_verified: 'true' }, true],
    [OWN, { email_verified: 'false' }, false],
    [OWN, { email_verified: 1 }, false],
    [GOOGLE, { email_verified: true, hd: 'example.com' }, true],
    [GOOGLE, { email_verified: true }, false],
    [GOOGLE, { email_verified: true, hd: 'other.example' }, false],
    [GOOGLE, { email_verified: false, hd: 'example.com' }, false],
    ['https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', {}, false],
    ['https://login.microsoftonline.com/8a0dcb4b-8b0d-4b2b-9b4b-0a0a0a0a0a0a/v2.0', {}, true],
  ])('of %s with %j is trusted: %s', (issuer, claims, expected) => {
    expect(isVerified(issuer, EMAIL, claims)).toBe(expected);
  });
});
