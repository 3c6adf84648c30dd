import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT, type JWTHeaderParameters } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DashboardRole, Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { TOKEN_LIFETIME } from './key-schedule.js';
import { TokenKeyring, type ReadyKey } from './token-keyring.js';
import { TOKEN_ALGORITHMS } from './token-signing-key.entity.js';

/** Keeps other JWTs of this service from being accepted as access tokens (RFC 9068, section 2.1). */
const TYPE = 'at+jwt';

export interface AccessTokenGrant {
  readonly userId: string;
  readonly organizationId: string;
  readonly role: DashboardRole;
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
}

const MAX_CACHED_TOKENS = 1_000;

/** A token with a valid signature and valid claims. Its expiry and its key are checked each time. */
interface ReadToken {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

/** Signs and reads access tokens (RFC 9068). */
@Injectable()
export class AccessTokens {
  /** Saves verifying a signature again, which takes a thread. The keys are digests, because a token is a secret. */
  private readonly verifiedTokens = new LRUCache<string, ReadToken>({ max: MAX_CACHED_TOKENS });

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
    })
      .setProtectedHeader({ alg: algorithm, typ: TYPE, kid })
      .setIssuer(this.issuer)
      .setAudience(this.issuer)
      .setSubject(grant.userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_LIFETIME / SECOND)
      .setJti(randomUUID())
      .sign(key);
  }

  /**
   * Checks the signature, type, issuer, audience and expiry of a token, but not whether it was revoked.
   *
   * @returns undefined if it is not an access token of this service, or has expired
   */
  async read(token: string): Promise<AccessTokenClaims | undefined> {
    const digest = sha256(token).toString('base64');
    const known = this.verifiedTokens.get(digest) ?? (await this.verified(token));
    // All tokens of a key have expired when the key is no longer published.
    const isGood =
      known !== undefined &&
      known.claims.exp * SECOND > this.clock.milliseconds() &&
      (await this.keyring.verifier(known.kid)) !== undefined;
    if (isGood) this.verifiedTokens.set(digest, known);
    else this.verifiedTokens.delete(digest);
    return isGood ? known.claims : undefined;
  }

  private async verified(token: string): Promise<ReadToken | undefined> {
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
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Each key is for one algorithm (RFC 8725, section 3.1). */
  private async keyFor({ kid, alg }: JWTHeaderParameters): Promise<ReadyKey['key']> {
    const known = kid === undefined ? undefined : await this.keyring.verifier(kid);
    if (!known || known.algorithm !== alg) throw new errors.JWSInvalid('Unknown key');
    return known.key;
  }

  /** The dashboard issues the tokens, and its API accepts them. */
  private get issuer(): string {
    return this.address.of('dashboard');
  }
}
