import { createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rememberSecret } from '../runner/run-directory.js';

/** How a response deviates from a correct one. */
export interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly signature?: 'none' | 'other key' | 'HS256 with the public key' | 'changed';
  readonly status?: number;
}

/** The parameters of the service's authorization request. */
interface Authorization {
  readonly state: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** Keys of providers that are closed, which the next ones use, because a new key takes 0.3 s of CPU time. */
const unusedKeys: ReturnType<typeof newKey>[] = [];
/** Signs forged tokens. No provider publishes it. */
const foreignKey = newKey();

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * An identity provider that is too lenient, or hostile: it accepts a code any number of times, and signs what a test asks for. A
 * correct provider would refuse these requests before the service could.
 */
export class ForgedProvider {
  readonly clientId = 'merchant-connectivity';
  readonly clientSecret = randomBytes(24).toString('base64url');
  /** Returned in addition to the required metadata. */
  readonly metadata: Record<string, unknown> = { authorization_response_iss_parameter_supported: true };
  /** Members that the token endpoint returns in addition to the required ones. */
  readonly tokenMembers: Record<string, unknown> = {};
  /** Responses with the discovery document so far. */
  discoveries = 0;
  /** Responses of the token endpoint so far. */
  redemptions = 0;
  /** The client ID and the secret of the last request. */
  credentials: string | undefined;
  /** The response of the UserInfo endpoint, if there is one. */
  userInfo: { readonly status: number; readonly value: unknown } = { status: 404, value: {} };
  private readonly key = unusedKeys.pop() ?? newKey();
  /** The ID token for each code. */
  private readonly tokens = new Map<string, { readonly token: string; readonly status: number }>();
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const [, credentials] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
      if (credentials) this.credentials = Buffer.from(credentials, 'base64').toString();
      const { status, value } = this.respond(request.url ?? '', new URLSearchParams(body));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    });
  });

  /** @param path of the issuer */
  static async start(path = ''): Promise<ForgedProvider> {
    const started = new ForgedProvider(path);
    rememberSecret(started.clientSecret);
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    return started;
  }

  private constructor(private readonly path: string) {}

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.path}`;
  }

  /** Returns the query with which the provider would redirect the browser back. */
  respondTo(url: string, claims: Readonly<Record<string, unknown>>, forgery: Forgery = {}): URLSearchParams {
    const { state, nonce } = this.read(url);
    const code = randomBytes(16).toString('base64url');
    const token = this.idToken({ nonce, ...claims, ...forgery.claims }, forgery);
    rememberSecret(code, token);
    this.tokens.set(code, { token, status: forgery.status ?? 200 });
    return new URLSearchParams({ code, state, iss: this.issuer });
  }

  read(url: string): Authorization {
    const { searchParams } = new URL(url);
    const [state = '', nonce = '', redirectUri = ''] = ['state', 'nonce', 'redirect_uri'].map(
      (name) => searchParams.get(name) ?? '',
    );
    return { state, nonce, redirectUri };
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    unusedKeys.push(this.key);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private respond(path: string, form: URLSearchParams): { status: number; value: unknown } {
    const { origin } = new URL(this.issuer);
    if (path === `${this.path.replace(/\/$/, '')}/.well-known/openid-configuration`) {
      this.discoveries += 1;
      return {
        status: 200,
        value: {
          issuer: this.issuer,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/jwks`,
          ...this.metadata,
        },
      };
    }
    if (path === '/jwks')
      return {
        status: 200,
        value: {
          keys: [{ ...this.key.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }],
        },
      };
    if (path === '/userinfo') return this.userInfo;
    const { token, status = 400 } = this.tokens.get(form.get('code') ?? '') ?? {};
    this.redemptions += 1;
    const value =
      status === 200
        ? { access_token: 'unused-access', token_type: 'Bearer', id_token: token, ...this.tokenMembers }
        : { error: 'invalid_grant' };
    return { status, value };
  }

  private idToken(claims: Readonly<Record<string, unknown>>, { header, signature }: Forgery): string {
    const now = Math.floor(Date.now() / 1_000);
    const alg = signature === 'none' ? 'none' : signature?.startsWith('HS256') ? 'HS256' : 'RS256';
    const body = { iss: this.issuer, aud: this.clientId, iat: now, exp: now + 300, ...claims };
    const signed = `${base64url({ alg, kid: 'one', ...header })}.${base64url(body)}`;
    return `${signed}.${this.signatureOf(signed, signature)}`;
  }

  private signatureOf(signed: string, signature: Forgery['signature']): string {
    const rsa = (key: KeyObject): string => sign('sha256', Buffer.from(signed), key).toString('base64url');
    switch (signature) {
      case 'none':
        return '';
      case 'other key':
        return rsa(foreignKey.privateKey);
      case 'changed':
        return rsa(this.key.privateKey).replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
      case 'HS256 with the public key': {
        const pem = this.key.publicKey.export({ format: 'pem', type: 'spki' });
        return createHmac('sha256', pem).update(signed).digest('base64url');
      }
      case undefined:
        return rsa(this.key.privateKey);
    }
  }
}
