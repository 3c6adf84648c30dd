import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { OperatorError } from '../../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { obsoleteKeys, PUBLISHED_BEFORE_USE, publishedKeys, signingKey } from './key-schedule.js';
import type { TokenAlgorithm, TokenSigningKey } from './token-signing-key.entity.js';
import { TokenSigningKeysRepository } from './token-signing-keys.repository.js';

/** What an operator sees of a key. */
export interface DescribedKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly createdAt: Date;
  readonly signsFrom: Date;
  readonly state: 'next' | 'signing' | 'verifying' | 'obsolete';
}

/** The keys of access tokens as the database has them: made when they are first needed, and replaced in time. */
@Injectable()
export class TokenSigningKeys {
  constructor(
    private readonly repository: TokenSigningKeysRepository,
    private readonly sealer: Sealer,
    private readonly configuration: OAuthConfiguration,
    private readonly clock: Clock,
  ) {}

  /** What tokens may be signed with now or soon, the newest first. At least one key. */
  async published(): Promise<TokenSigningKey[]> {
    const keys = await this.repository.all();
    return publishedKeys(keys.length > 0 ? keys : await this.makeFirst(), this.clock.now());
  }

  /**
   * Publishes a new key, which signs from 10 minutes later on.
   *
   * @throws OperatorError when the last one does not sign yet
   */
  @Transactional()
  async rotate(): Promise<DescribedKey> {
    const [newest] = await this.repository.lockAll();
    const now = this.clock.now();
    if (newest && newest.signsFrom > now) {
      throw new OperatorError(
        `A new key is published already and signs from ${newest.signsFrom.toISOString()} on.`,
      );
    }
    const signsFrom = newest ? new Date(now.getTime() + PUBLISHED_BEFORE_USE) : now;
    const { kid, algorithm, createdAt } = await this.make(signsFrom);
    return { kid, algorithm, createdAt, signsFrom, state: newest ? 'next' : 'signing' };
  }

  /** Rotates when the newest key has signed for long enough, or is for another algorithm than new ones are. */
  @Transactional()
  async rotateIfDue(): Promise<void> {
    const [newest] = await this.repository.lockAll();
    const { tokenAlgorithm, tokenKeyRotationDays } = this.configuration;
    if (!newest || newest.signsFrom > this.clock.now() || tokenKeyRotationDays === 0) return;
    const age = this.clock.milliseconds() - newest.signsFrom.getTime();
    if (age >= tokenKeyRotationDays * DAY || newest.algorithm !== tokenAlgorithm) await this.rotate();
  }

  /** The newest first. */
  async describe(): Promise<DescribedKey[]> {
    const keys = await this.repository.all();
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

  /** Deletes keys that no token can need any more. */
  async deleteObsolete(): Promise<void> {
    const keys = await this.repository.all();
    for (const { kid } of obsoleteKeys(keys, this.clock.now())) await this.repository.delete(kid);
  }

  /** The private key as a JWK. */
  open(key: TokenSigningKey): JWK {
    return JSON.parse(this.sealer.open(key.privateSealed, ownerOf(key))) as JWK;
  }

  /** Of several processes that need the first key at once, one makes it. It signs at once: no token is older. */
  @Transactional()
  protected async makeFirst(): Promise<TokenSigningKey[]> {
    if ((await this.repository.lockAll()).length === 0) await this.make(this.clock.now());
    return this.repository.all();
  }

  private async make(signsFrom: Date): Promise<TokenSigningKey> {
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
    await this.repository.add(key);
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
): DescribedKey['state'] {
  if (isSigning) return 'signing';
  if (key.signsFrom > now) return 'next';
  return isPublished ? 'verifying' : 'obsolete';
}
