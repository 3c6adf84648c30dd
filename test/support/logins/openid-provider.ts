import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Provider } from 'oidc-provider';
import { rememberSecret } from '../runner/run-directory.js';

/** A person at the provider. */
export interface Account {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
}

const CLIENT_ID = 'merchant-connectivity';

/**
 * An identity provider: `oidc-provider`, an implementation of OpenID Connect that is not ours. Its login form asks for the address
 * and accepts everyone who has an account.
 */
export class OpenidProviderServer {
  readonly clientId = CLIENT_ID;
  readonly clientSecret = randomBytes(24).toString('base64url');
  readonly accounts = new Map<string, Account>();
  private readonly redirectUris: string[] = [];
  private readonly server = createServer((request, response) => void this.handle(request, response));
  private provider: Provider | undefined;

  /**
   * @param idTokenHasClaims whether the ID token has the address; otherwise only the UserInfo endpoint returns it
   * @param isPublic whether the client has no secret, and must use PKCE
   */
  static async start({ idTokenHasClaims = true, isPublic = false } = {}): Promise<OpenidProviderServer> {
    const { Provider: implementation } = await withoutWarnings(() => import('oidc-provider'));
    const started = new OpenidProviderServer(implementation, idTokenHasClaims, isPublic);
    rememberSecret(started.clientSecret);
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    return started;
  }

  private constructor(
    private readonly implementation: typeof Provider,
    private readonly idTokenHasClaims: boolean,
    private readonly isPublic: boolean,
  ) {}

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Registers a redirect address, as an admin of the provider does. */
  register(redirectUri: string): void {
    this.redirectUris.push(redirectUri);
    this.provider = undefined;
  }

  add(account: Account): void {
    this.accounts.set(account.sub, account);
  }

  /** Logs in at the provider. @returns the URL that the provider redirects to */
  async logIn(url: string, email: string, jar = new CookieJar()): Promise<URL> {
    let response = await jar.fetch(new URL(url));
    for (let redirects = 0; redirects < 10; redirects += 1) {
      if (response.location && response.location.origin !== this.issuer) return response.location;
      if (response.location) response = await jar.fetch(response.location);
      else if (/name="email"/.test(response.text))
        response = await jar.fetch(response.url, new URLSearchParams({ email }));
      else break;
    }
    throw new Error(`The provider did not redirect: ${response.text.slice(0, 500)}`);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.provider ??= await withoutWarnings(() => Promise.resolve(this.configured()));
    if (!request.url?.startsWith('/interaction/')) return this.provider.callback()(request, response);
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><html lang="en"><title>Provider</title><main><h1>Log in at the provider</h1>' +
          '<form method="post"><label>Your address <input name="email"></label><button>Log in here</button></form>',
      );
      return;
    }
    const email = new URLSearchParams(await text(request)).get('email');
    const account = [...this.accounts.values()].find((each) => each.email === email);
    const result = account
      ? { login: { accountId: account.sub } }
      : { error: 'access_denied', error_description: 'nobody' };
    await this.provider.interactionFinished(request, response, result);
  }

  private configured(): Provider {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    return new this.implementation(this.issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          ...(this.isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: this.clientSecret }),
          redirect_uris: this.redirectUris,
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      claims: { email: ['email', 'email_verified'] },
      conformIdTokenClaims: !this.idTokenHasClaims,
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }] },
      cookies: { keys: [randomBytes(32).toString('hex')] },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => this.accounts.get(id) ?? { sub: id },
      }),
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      // Nobody is asked for consent.
      loadExistingGrant: async ({ oidc }: GrantContext) => {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client.clientId,
          accountId: oidc.session.accountId,
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
      pkce: { required: () => this.isPublic },
      features: { devInteractions: { enabled: false } },
    });
  }
}

/** The provider warns that it stores everything in memory, and about the version of Node.js. */
async function withoutWarnings<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: { readonly Grant: new (values: object) => Grant };
  };
}

/** The cookies of a browser at the provider. */
export class CookieJar {
  private readonly cookies = new Map<string, string>();

  async fetch(
    url: URL,
    body?: URLSearchParams,
  ): Promise<{ url: URL; location: URL | undefined; text: string }> {
    const response = await fetch(url, {
      method: body ? 'POST' : 'GET',
      ...(body && { body }),
      redirect: 'manual',
      headers: { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return {
      url,
      location: location === null ? undefined : new URL(location, url),
      text: await response.text(),
    };
  }
}
