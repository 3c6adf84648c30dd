import 'reflect-metadata';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { noLimit, outcomeOf, type SentCredentials } from '../../../test/support/http/guards.js';
import { ServiceTokenStrategy } from './bearer.strategy.js';
import { ServiceTokenAuthGuard } from './token-auth.guards.js';

const SERVICE = { scopes: new Set<string>() };

// Creating a strategy registers it with Passport.
new ServiceTokenStrategy({
  verify: async (token) => ({ valid: SERVICE, expired: 'expired' as const })[token],
});

describe('Bearer tokens', () => {
  const guard = new ServiceTokenAuthGuard(noLimit);
  const authorization = 'Bearer valid';
  const NO_TOKEN =
    'The request has no credentials. Send the service token with the Bearer scheme in the Authorization header.';
  const INVALID = 'The service token is not valid.';
  const MALFORMED = `${INVALID} Send the word Bearer, a space and the token, without quotation marks, placeholders or a second Bearer.`;

  it('are read by passport-http-bearer', async () => {
    const authenticate = import.meta.jest.spyOn(PassportBearerStrategy.prototype, 'authenticate');
    expect(await outcomeOf(guard, { authorization })).toBe(SERVICE);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });

  it.each<[string, SentCredentials, string]>([
    ['in the query', { query: { access_token: 'valid' } }, NO_TOKEN],
    ['in a form', { body: { access_token: 'valid' } }, NO_TOKEN],
    ['behind a wrong one', { authorization: 'Bearer wrong', query: { access_token: 'valid' } }, INVALID],
    [
      'behind another scheme',
      { authorization: 'Basic x', body: { access_token: 'valid' } },
      'The Authorization header must use the Bearer scheme, with the service token.',
    ],
    ['twice', { authorization: 'Bearer valid valid' }, MALFORMED],
    ['in quotation marks', { authorization: 'Bearer "valid"' }, MALFORMED],
    ['after the scheme twice', { authorization: 'Bearer Bearer valid' }, MALFORMED],
    ['as a placeholder', { authorization: 'Bearer ${input:token}' }, MALFORMED],
    ['expired', { authorization: 'Bearer expired' }, 'The service token has expired.'],
  ])('are refused %s', async (_where, sent, message) => {
    expect(await outcomeOf(guard, sent)).toBe(message);
  });

  it.each<[string, SentCredentials]>([
    ['several spaces', { authorization: 'bearer   valid' }],
    ['a parameter of the query called access_token', { authorization, query: { access_token: 'other' } }],
    ['a field of the body called access_token', { authorization, body: { access_token: 'other' } }],
  ])('are accepted with %s', async (_what, sent) => {
    expect(await outcomeOf(guard, sent)).toBe(SERVICE);
  });
});
