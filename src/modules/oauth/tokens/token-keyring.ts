import { Injectable } from '@nestjs/common';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { signingKey } from './key-schedule.js';
import type { TokenAlgorithm, TokenSigningKey } from './token-signing-key.entity.js';
import { TokenSigningKeys } from './token-signing-keys.js';

/** A key ready for use. */
export interface ReadyKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: CryptoKey;
}

/** Far below the time for which a key is published before it signs. */
const KEPT_FOR = MINUTE;
/** How often a token with a key that nobody knows makes us look again. */
const REFRESH_INTERVAL = 5 * SECOND;

/** The keys as this process holds them. What other processes change is seen within a minute, before it matters. */
@Injectable()
export class TokenKeyring {
  private keys: readonly TokenSigningKey[] = [];
  private readonly imported = new Map<string, CryptoKey>();
  private loadedAt = -Infinity;

  constructor(
    private readonly source: TokenSigningKeys,
    private readonly clock: Clock,
  ) {}

  /** The key that signs now. */
  async signer(): Promise<ReadyKey> {
    if (this.age() > KEPT_FOR) await this.load();
    const key = signingKey(this.keys, this.clock.now());
    if (!key) throw new Error('No key signs access tokens now');
    return this.ready('private', key, () => this.source.open(key));
  }

  /** @returns undefined for a key that is none of ours, or no longer */
  async verifier(kid: string): Promise<ReadyKey | undefined> {
    if (this.age() > KEPT_FOR) await this.load();
    let key = this.find(kid);
    if (!key && this.age() > REFRESH_INTERVAL) {
      await this.load();
      key = this.find(kid);
    }
    return key && this.ready('public', key, ({ publicJwk }) => publicJwk);
  }

  private find(kid: string): TokenSigningKey | undefined {
    return this.keys.find((key) => key.kid === kid);
  }

  private async load(): Promise<void> {
    this.keys = await this.source.published();
    this.loadedAt = this.clock.milliseconds();
  }

  /** Of a clock that was set back too: it is then no less uncertain what has changed. */
  private age(): number {
    return Math.abs(this.clock.milliseconds() - this.loadedAt);
  }

  private async ready(
    half: 'private' | 'public',
    key: TokenSigningKey,
    jwkOf: (key: TokenSigningKey) => JWK,
  ): Promise<ReadyKey> {
    const { kid, algorithm } = key;
    const name = `${half} ${kid}`;
    let imported = this.imported.get(name);
    if (!imported) {
      imported = (await importJWK(jwkOf(key), algorithm)) as CryptoKey;
      this.imported.set(name, imported);
    }
    return { kid, algorithm, key: imported };
  }
}
