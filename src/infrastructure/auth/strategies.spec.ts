import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import type { FailedCredentials } from '../rate-limiting/index.js';
import {
  BasicAuthGuard,
  BasicStrategy,
  OAuthClientAuthGuard,
  OAuthClientStrategy,
} from './basic.strategy.js';
import { ServiceTokenAuthGuard, ServiceTokenStrategy } from './bearer.strategy.js';
import { CredentialVerifier, type CredentialCheck } from './ports.js';

const CLIENT = {
  clientId: 'id',
  organizationId: 'o',
  environment: 'development',
  enabledOperations: new Set(),
};
const SERVICE = { scopes: new Set<string>() };

class OneClient extends CredentialVerifier {
  async verify(clientId: string, secret: string): Promise<CredentialCheck> {
    const isKnown = clientId === 'id' && secret === 'secret-7';
    return isKnown ? { accepted: true, client: CLIENT as never } : { accepted: false };
  }
  lastAccepted() {
    return undefined;
  }
}

const noLimit = { count: async () => undefined } as unknown as FailedCredentials;
const verifier = new OneClient();
// Creating a strategy registers it with Passport.
new BasicStrategy(verifier);
new OAuthClientStrategy(verifier);
new ServiceTokenStrategy({
  verify: async (token) => ({ valid: SERVICE, expired: 'expired' as const })[token],
});

interface Sent {
  readonly authorization?: string | undefined;
  readonly query?: object;
  readonly body?: object;
}

/** Returns the user that the guard admits, or what it responds. */
async function outcomeOf(
  guard: Pick<ServiceTokenAuthGuard, 'canActivate'>,
  { authorization, query = {}, body }: Sent,
): Promise<unknown> {
  const request: Record<string, unknown> = { headers: { authorization }, query, body };
  const http = { getRequest: () => request, getResponse: () => ({}) };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  try {
    await guard.canActivate(context);
    return request['user'];
  } catch (error) {
    return (error as Error).message;
  }
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

describe('Basic credentials', () => {
  const basic = new BasicAuthGuard(verifier, noLimit);
  const oauth = new OAuthClientAuthGuard(verifier, noLimit);
  const WRONG = 'Invalid client_id or secret provided.';
  const MALFORMED = 'The Basic credentials are malformed: send the base64 encoding of client_id:secret.';

  it('are read by passport-http', async () => {
    const authenticate = import.meta.jest.spyOn(PassportBasicStrategy.prototype, 'authenticate');
    expect(await outcomeOf(basic, { authorization: `Basic ${encode('id:secret-7')}` })).toBe(CLIENT);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });

  it.each([`basic ${encode('id:secret-7')}`, `BASIC   ${encode('id:secret-7')}`])(
    'are accepted as %s',
    async (authorization) => expect(await outcomeOf(basic, { authorization })).toBe(CLIENT),
  );

  it.each([
    ['a secret that is right up to a second colon', `Basic ${encode('id:secret-7:x')}`, WRONG],
    ['a colon behind the secret', `Basic ${encode('id:secret-7:')}`, WRONG],
    ['no secret', `Basic ${encode('id:')}`, WRONG],
    ['no client_id', `Basic ${encode(':secret-7')}`, WRONG],
    ['base64 with a foreign character', `Basic *${encode('id:secret-7')}`, MALFORMED],
    ['base64 of the URL alphabet', `Basic ${encode('id:secret-7>>>').replaceAll('+', '-')}`, MALFORMED],
    ['base64 without its padding', `Basic ${encode('id:secret-7').replaceAll('=', '')}`, MALFORMED],
    ['base64 in two parts', `Basic ${encode('id:secret-7')} ${encode('id:secret-7')}`, MALFORMED],
    ['text that is not encoded', 'Basic id:secret-7', MALFORMED],
    [
      'a scheme that contains the name of another',
      `XBasic ${encode('id:secret-7')}`,
      'The Authorization header must use the Basic scheme, with client_id and secret.',
    ],
  ])(
    'are refused although passport-http would accept or not explain them: %s',
    async (_what, authorization, message) => {
      expect(await outcomeOf(basic, { authorization })).toBe(message);
    },
  );

  it.each(['id::x', 'id:', ':secret-7'])(
    'are checked although passport-http finds one of them empty, so that the client of the attempt is known: %s',
    async (credentials) => {
      const verify = import.meta.jest.spyOn(verifier, 'verify');
      await outcomeOf(basic, { authorization: `Basic ${encode(credentials)}` });
      const colon = credentials.indexOf(':');
      expect(verify.mock.calls).toEqual([
        [credentials.slice(0, colon), credentials.slice(colon + 1), expect.anything()],
      ]);
      verify.mockRestore();
    },
  );

  it('may be form-encoded at OAuth endpoints only', async () => {
    const authorization = `Basic ${encode('i%64:secre%74-7')}`;
    expect(await outcomeOf(oauth, { authorization })).toBe(CLIENT);
    expect(await outcomeOf(basic, { authorization })).toBe(WRONG);
    expect(await outcomeOf(oauth, { authorization: `Basic ${encode('id:secret-7%3A')}` })).toBe(WRONG);
  });
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

  it.each<[string, Sent, string]>([
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

  it.each<[string, Sent]>([
    ['several spaces', { authorization: 'bearer   valid' }],
    ['a parameter of the query called access_token', { authorization, query: { access_token: 'other' } }],
    ['a field of the body called access_token', { authorization, body: { access_token: 'other' } }],
  ])('are accepted with %s', async (_what, sent) => {
    expect(await outcomeOf(guard, sent)).toBe(SERVICE);
  });
});
