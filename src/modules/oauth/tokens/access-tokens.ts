import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT, type JWTHeaderParameters } from 'jose';
import type { DashboardRole, Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { TOKEN_LIFETIME } from './key-schedule.js';
import { TokenKeyring, type ReadyKey } from './token-keyring.js';
import { TOKEN_ALGORITHMS } from './token-signing-key.entity.js';

/** RFC 9068, section 2.1: no other JWT of ours can be taken for an access token. */
const TYPE = 'at+jwt';

/** What an access token is issued for. */
export interface AccessTokenGrant {
  readonly userId: string;
  readonly organizationId: string;
  readonly role: DashboardRole;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: readonly Scope[];
}

/** The claims of our access tokens (RFC 9068, section 2.2). */
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

/** Tokens whose signatures are remembered at once. */
const REMEMBERED_TOKENS = 1_000;

/** A token whose signature and claims were good. What time does to it is looked at anew. */
interface ReadToken {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

/** Writes access tokens and reads those that we wrote (RFC 9068). */
@Injectable()
export class AccessTokens {
  /** By digest: a token is a secret. Looking at its signature takes another thread, and gives the same each time. */
  private readonly remembered = new Map<string, ReadToken>();

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
   * Signature, type, issuer, audience and time. Whether the token was revoked is another question.
   *
   * @returns undefined when it is not one of our access tokens, or has expired
   */
  async read(token: string): Promise<AccessTokenClaims | undefined> {
    const digest = sha256(token).toString('base64');
    const known = this.remembered.get(digest) ?? (await this.verified(token));
    // A key that is published no more has no tokens left that are good.
    const isGood =
      known !== undefined &&
      known.claims.exp * SECOND > this.clock.milliseconds() &&
      (await this.keyring.verifier(known.kid)) !== undefined;
    if (isGood) this.remember(digest, known);
    else this.remembered.delete(digest);
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

  private remember(digest: string, token: ReadToken): void {
    if (this.remembered.has(digest)) return;
    const [oldest] = this.remembered.keys();
    if (oldest !== undefined && this.remembered.size >= REMEMBERED_TOKENS) this.remembered.delete(oldest);
    this.remembered.set(digest, token);
  }

  /** Each key is for one algorithm (RFC 8725, section 3.1). */
  private async keyFor({ kid, alg }: JWTHeaderParameters): Promise<ReadyKey['key']> {
    const known = kid === undefined ? undefined : await this.keyring.verifier(kid);
    if (!known || known.algorithm !== alg) throw new errors.JWSInvalid('No key of ours');
    return known.key;
  }

  /** The dashboard: it issues the tokens, and its API is what they are for. */
  private get issuer(): string {
    return this.address.of('dashboard');
  }
}
