import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT, type JWTHeaderParameters } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DashboardPrincipal, DashboardRole, Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { TOKEN_LIFETIME, TOKEN_ALGORITHMS } from './tokens.entity.js';
import { TokenKeyring, type ImportedKey } from './token-keyring.js';

/** RFC 9068, section 2.1: prevents other JWTs of the service from being used as access tokens. */
const TYPE = 'at+jwt';

export interface AccessTokenGrant extends DashboardPrincipal {
  /** The ID of the device authorization, so that the token can be revoked without knowing it. */
  readonly tokenId: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: readonly Scope[];
}

/** The claims of an access token (RFC 9068, section 2.2). */
export interface AccessTokenClaims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly client_id: string;
  /** Seconds since the epoch, as `exp`. */
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly environment: PlatformEnvironment;
  readonly scope: string;
  readonly roles: readonly DashboardRole[];
  readonly org: string;
  /** The user's access version when the token was issued. */
  readonly access_version: number;
}

/** Maximum number of verified tokens in the cache. */
const MAX_CACHED_TOKENS = 1_000;

/** A token with a valid signature and claims. Its expiry is checked each time. */
interface VerifiedToken {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

/** Signs access tokens and verifies their signatures and claims (RFC 9068). */
@Injectable()
export class AccessTokensService {
  /**
   * Caches verified tokens, because verifying a signature occupies a thread of the pool. Keyed by digest, because a
   * token is a secret.
   */
  private readonly verified = new LRUCache<string, VerifiedToken>({ max: MAX_CACHED_TOKENS });

  constructor(
    private readonly keyring: TokenKeyring,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  async sign(grant: AccessTokenGrant): Promise<string> {
    const { kid, algorithm, key } = await this.keyring.signer();
    const issuedAt = Math.floor(this.clock.milliseconds() / SECOND);
    return new SignJWT({
      client_id: grant.clientId,
      environment: grant.environment,
      scope: grant.scopes.join(' '),
      roles: [grant.role],
      org: grant.organizationId,
      access_version: grant.accessVersion,
    })
      .setProtectedHeader({ alg: algorithm, typ: TYPE, kid })
      .setIssuer(this.issuer)
      .setAudience(this.issuer)
      .setSubject(grant.userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_LIFETIME / SECOND)
      .setJti(grant.tokenId)
      .sign(key);
  }

  /**
   * Verifies signature, type, issuer, audience and expiry, but not whether the token was revoked.
   *
   * @returns undefined if it is not an access token of this service
   */
  async read(token: string): Promise<AccessTokenClaims | 'expired' | undefined> {
    const digest = sha256(token).toString('base64');
    const known = this.verified.get(digest) ?? (await this.verify(token));
    if (known === undefined || known === 'expired') return known;
    // Tokens of a key that is no longer published are no longer accepted.
    const isTrusted = (await this.keyring.verifier(known.kid)) !== undefined;
    if (isTrusted && known.claims.exp * SECOND > this.clock.milliseconds()) {
      this.verified.set(digest, known);
      return known.claims;
    }
    this.verified.delete(digest);
    return isTrusted ? 'expired' : undefined;
  }

  private async verify(token: string): Promise<VerifiedToken | 'expired' | undefined> {
    try {
      const { payload, protectedHeader } = await jwtVerify<AccessTokenClaims>(
        token,
        (header) => this.keyFor(header),
        {
          typ: TYPE,
          algorithms: [...TOKEN_ALGORITHMS],
          issuer: this.issuer,
          audience: this.issuer,
          requiredClaims: ['sub', 'client_id', 'iat', 'exp', 'jti', 'environment', 'scope', 'org'],
          currentDate: this.clock.now(),
        },
      );
      return { kid: protectedHeader.kid ?? '', claims: payload };
    } catch (error) {
      // Checked last, so everything else about the token is right.
      if (error instanceof errors.JWTExpired) return 'expired';
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Each key is used with one algorithm only (RFC 8725, section 3.1). */
  private async keyFor({ kid, alg }: JWTHeaderParameters): Promise<ImportedKey['key']> {
    const known = kid === undefined ? undefined : await this.keyring.verifier(kid);
    if (!known || known.algorithm !== alg) throw new errors.JWSInvalid('Unknown key');
    return known.key;
  }

  /** The dashboard is both the issuer and the audience of access tokens. */
  private get issuer(): string {
    return this.address.of('dashboard');
  }
}
