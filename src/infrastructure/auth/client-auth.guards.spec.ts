import 'reflect-metadata';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { noLimit, outcomeOf } from '../../../test/support/http/guards.js';
import { BasicStrategy, OAuthClientStrategy } from './basic.strategy.js';
import { BasicAuthGuard, OAuthClientAuthGuard } from './client-auth.guards.js';
import { CredentialVerifier, type CredentialCheck } from './ports.js';

const CLIENT = {
  clientId: 'id',
  organizationId: 'o',
  environment: 'development',
  enabledOperations: new Set(),
};

class OneClient extends CredentialVerifier {
  async verify(clientId: string, secret: string): Promise<CredentialCheck> {
    const isKnown = clientId === 'id' && secret === 'secret-7';
    return isKnown ? { accepted: true, client: CLIENT as never } : { accepted: false };
  }
  lastAccepted() {
    return undefined;
  }
}

const verifier = new OneClient();
// Creating a strategy registers it with Passport.
new BasicStrategy(verifier);
new OAuthClientStrategy(verifier);

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
