import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import {
  DatabaseClock,
  OverdueWork,
  Transaction,
  Transactional,
} from '../../../infrastructure/database/index.js';
import { OperatorError } from '../../../infrastructure/errors/index.js';
import { Clock, CLOCK_TOLERANCE, DAY, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { TOKEN_LIFETIME, type TokenAlgorithm } from '../access-token.js';
import { TokenSigningKey } from './token-signing-key.entity.js';

/** How long a key is published before it signs: longer than clients may cache the JWKS. */
const PUBLISHED_BEFORE_USE = 10 * MINUTE;
/** How long clients may cache the JWKS. */
export const JWKS_CACHED_FOR = 5 * MINUTE;
/** Tolerated difference between the clocks of this service and of verifiers. */
const CLOCK_SKEW = 2 * MINUTE;

/**
 * Returns the keys to publish: a key signs until the next one takes over and stays published until the last token
 * that it signed has expired on every clock.
 *
 * @param keys newest first
 * @param longer milliseconds for which keys count although they are not published anymore
 */
function publishedKeys(keys: readonly TokenSigningKey[], now: Date, longer = 0): TokenSigningKey[] {
  const last = now.getTime() - TOKEN_LIFETIME - CLOCK_SKEW - longer;
  return keys.filter((_, index) => (keys[index - 1]?.signsFrom.getTime() ?? Infinity) >= last);
}

/**
 * Returns the key that signs now. The first key signs even if this process's clock is behind that of the process that
 * created it, until the key that replaces it has been published for long enough.
 *
 * @param keys newest first
 */
export function signingKey(keys: readonly TokenSigningKey[], now: Date): TokenSigningKey | undefined {
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys[0];
}

/** Returns the newest key, without those of a process whose clock was ahead: they sign later than any key that is published now. */
function newestKey(keys: readonly TokenSigningKey[], now: Date): TokenSigningKey | undefined {
  const latest = now.getTime() + PUBLISHED_BEFORE_USE + CLOCK_TOLERANCE;
  return keys.find(({ signsFrom }) => signsFrom.getTime() <= latest);
}

export interface TokenSigningKeyStatus extends Pick<
  TokenSigningKey,
  'kid' | 'algorithm' | 'createdAt' | 'signsFrom'
> {
  readonly state: 'next' | 'signing' | 'verifying' | 'obsolete';
}

/** Creates, publishes, rotates and deletes the keys that sign access tokens. */
@Injectable()
export class TokenSigningKeysService {
  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
    private readonly configuration: OAuthConfiguration,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    overdue: OverdueWork,
  ) {
    overdue.add('signing_key_rotation', async () => {
      const newest = newestKey(await this.keys(), this.clock.now());
      const { tokenKeyRotationDays: days } = this.configuration;
      return newest && days > 0 ? new Date(newest.signsFrom.getTime() + days * DAY + HOUR) : null;
    });
  }

  /** Returns the keys to publish (next, signing and verifying), newest first. Creates the first key if there is none. */
  async published(): Promise<TokenSigningKey[]> {
    const keys = await this.keys();
    return publishedKeys(keys.length > 0 ? keys : await this.createFirst(), this.clock.now());
  }

  /**
   * Publishes a new key, which starts signing 10 minutes later.
   *
   * @throws OperatorError if the newest key has not started signing
   */
  @Transactional()
  async rotate(): Promise<TokenSigningKeyStatus> {
    const keys = await this.lockKeys();
    const now = this.clock.now();
    const newest = newestKey(keys, now);
    if (newest && newest.signsFrom > now) {
      throw new OperatorError(
        `A new key is already published and starts signing at ${newest.signsFrom.toISOString()}.`,
      );
    }
    const signsFrom = keys.length > 0 ? new Date(now.getTime() + PUBLISHED_BEFORE_USE) : now;
    const { kid, algorithm, createdAt } = await this.create(signsFrom);
    return { kid, algorithm, createdAt, signsFrom, state: keys.length > 0 ? 'next' : 'signing' };
  }

  /** Rotates if the newest key is old enough or uses another algorithm than the one configured, and if all keys sign too late. */
  @Transactional()
  async rotateIfDue(): Promise<void> {
    const keys = await this.lockKeys();
    const newest = newestKey(keys, this.clock.now());
    const { tokenAlgorithm, tokenKeyRotationDays } = this.configuration;
    if (keys.length === 0 || tokenKeyRotationDays === 0) return;
    if (newest && newest.signsFrom > this.clock.now()) return;
    const age = this.clock.milliseconds() - (newest?.signsFrom.getTime() ?? -Infinity);
    if (age >= tokenKeyRotationDays * DAY || newest?.algorithm !== tokenAlgorithm) await this.rotate();
  }

  async describe(): Promise<TokenSigningKeyStatus[]> {
    const keys = await this.keys();
    const now = this.clock.now();
    const signing = signingKey(keys, now);
    const published = new Set(publishedKeys(keys, now));
    return keys.map((key) => ({
      kid: key.kid,
      algorithm: key.algorithm,
      createdAt: key.createdAt,
      signsFrom: key.signsFrom,
      state: stateOf(key, key === signing, published.has(key), now),
    }));
  }

  /** Deletes the keys that have been obsolete for more than a day. */
  async deleteObsolete(): Promise<void> {
    const now = new Date(await this.databaseClock.timeForDeletion());
    const keys = await this.keys();
    const kept = publishedKeys(keys, now, DAY);
    for (const { kid } of keys.filter((key) => !kept.includes(key)))
      await this.transaction.manager.delete(TokenSigningKey, { kid });
  }

  open(key: TokenSigningKey): JWK {
    return JSON.parse(this.sealer.open(key.privateSealed, ownerOf(key))) as JWK;
  }

  /** Creates the first key exactly once, even if several processes need it. It signs immediately, because no token exists yet. */
  @Transactional()
  protected async createFirst(): Promise<TokenSigningKey[]> {
    if ((await this.lockKeys()).length === 0) await this.create(this.clock.now());
    return this.keys();
  }

  /** Locks the keys against concurrent changes until the transaction ends. @returns all keys, newest first */
  private async lockKeys(): Promise<TokenSigningKey[]> {
    await this.transaction.lockTable(TokenSigningKey);
    return this.keys();
  }

  /** Returns all keys, newest first. */
  private keys(): Promise<TokenSigningKey[]> {
    return this.transaction.manager.find(TokenSigningKey, { order: { signsFrom: 'DESC' } });
  }

  private async create(signsFrom: Date): Promise<TokenSigningKey> {
    const algorithm = this.configuration.tokenAlgorithm as TokenAlgorithm;
    const kid = randomUUID();
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ]);
    const key: TokenSigningKey = {
      kid,
      algorithm,
      publicJwk: { ...publicJwk, kid, alg: algorithm, use: 'sig' },
      privateSealed: this.sealer.seal(JSON.stringify(privateJwk), ownerOf({ kid, algorithm })),
      createdAt: this.clock.now(),
      signsFrom,
    };
    await this.transaction.manager.insert(TokenSigningKey, key);
    return key;
  }
}

function ownerOf({ kid, algorithm }: Pick<TokenSigningKey, 'kid' | 'algorithm'>): string[] {
  return ['token_signing_key', kid, algorithm];
}

function stateOf(
  key: TokenSigningKey,
  isSigning: boolean,
  isPublished: boolean,
  now: Date,
): TokenSigningKeyStatus['state'] {
  if (isSigning) return 'signing';
  if (key.signsFrom > now) return 'next';
  return isPublished ? 'verifying' : 'obsolete';
}
