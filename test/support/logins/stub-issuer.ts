import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { rememberSecret } from '../runner/run-directory.js';

/** An issuer of tokens as CI systems have one. */
export class StubIssuer {
  requests: string[] = [];
  /** In place of a document, by its path. */
  readonly responses = new Map<
    string,
    { status?: number; headers?: Record<string, string>; body?: string; isSilent?: true }
  >();
  /** The claims of the job that requests its token, as GitHub has it, with the right credential. */
  job: { readonly credential: string; readonly claims: JWTPayload } | undefined;

  private constructor(
    private readonly server: Server,
    private keys: { kid: string; private: CryptoKey; public: CryptoKey }[],
  ) {}

  static async start(): Promise<StubIssuer> {
    const server = createServer();
    const issuer = new StubIssuer(server, []);
    await issuer.rotate();
    server.on('request', async (request, response) => {
      const path = request.url ?? '';
      issuer.requests.push(path);
      const audience = new URL(path, issuer.url).searchParams.get('audience');
      if (audience !== null) {
        const isJob = request.headers.authorization === `Bearer ${issuer.job?.credential}`;
        response.writeHead(isJob ? 200 : 401, { 'content-type': 'application/json' });
        const token = isJob ? await issuer.sign({ ...issuer.job?.claims, aud: audience }) : null;
        return void response.end(JSON.stringify({ value: token }));
      }
      const { status = 200, headers = {}, body, isSilent } = issuer.responses.get(path) ?? {};
      if (isSilent) return;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body ?? JSON.stringify(await issuer.document(path)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Replaces the key. */
  async rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    this.keys = [{ kid: randomUUID(), private: privateKey, public: publicKey }];
  }

  get publicKey(): CryptoKey {
    return (this.keys[0] as (typeof this.keys)[0]).public;
  }

  async sign(
    claims: JWTPayload,
    header: Record<string, unknown> = {},
    key?: CryptoKey | Uint8Array,
  ): Promise<string> {
    const [{ kid, private: own }] = this.keys as [(typeof this.keys)[0]];
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid, ...header })
      .sign(key ?? own);
    rememberSecret(token);
    return token;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async document(path: string): Promise<object> {
    if (path !== '/jwks') return { issuer: this.url, jwks_uri: `${this.url}/jwks` };
    return {
      keys: await Promise.all(
        this.keys.map(async ({ kid, public: key }) => ({
          ...(await exportJWK(key)),
          kid,
          alg: 'RS256',
          use: 'sig',
        })),
      ),
    };
  }
}
