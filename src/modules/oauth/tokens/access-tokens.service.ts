import { Injectable } from '@nestjs/common';
import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  SignJWT,
  type JWTHeaderParameters,
  type JWTPayload,
} from 'jose';
import { BoundedCache } from '../../../infrastructure/caching/index.js';
import type { DashboardPrincipal, DashboardRole, Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { cacheKeyOf } from '../../../infrastructure/issued-tokens/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { TOKEN_LIFETIME, TOKEN_ALGORITHMS } from '../access-token.js';
import { TokenKeyring, type ImportedKey } from './token-keyring.js';

/** RFC 9068, section 2.1: prevents other JWTs of the service from being used as access tokens. */
const TYPE = 'at+jwt';

export interface AccessTokenGrant extends Pick<
  DashboardPrincipal,
  'userId' | 'organizationId' | 'role' | 'accessVersion'
> {
  /** The ID of the device authorization, so that the token can be revoked without knowing it. */
  readonly tokenId: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: readonly Scope[];
  /** The API key that the token is issued for, in place of a user. */
  readonly keyId?: string;
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
  /** The API key, in a token without a user. */
  readonly key_id?: string;
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
  private readonly verified = new BoundedCache<VerifiedToken>({ max: MAX_CACHED_TOKENS });

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
      ...(grant.keyId !== undefined && { key_id: grant.keyId }),
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
    const claims = await this.find(token);
    return claims && claims.exp * SECOND <= this.clock.milliseconds() ? 'expired' : claims;
  }

  /** Like `read()`, but also returns the claims of a token that has expired by the clock of this process. */
  async find(token: string): Promise<AccessTokenClaims | undefined> {
    const digest = cacheKeyOf(token);
    const known = this.verified.get(digest) ?? (await this.verify(token));
    // Tokens of a key that is no longer published are no longer accepted.
    if (known && (await this.keyring.verifier(known.kid))) {
      this.verified.set(digest, known);
      return known.claims;
    }
    this.verified.delete(digest);
    return undefined;
  }

  private async verify(token: string): Promise<VerifiedToken | undefined> {
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
      if (error instanceof errors.JWTExpired)
        return {
          kid: decodeProtectedHeader(token).kid ?? '',
          claims: error.payload as JWTPayload & AccessTokenClaims,
        };
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
