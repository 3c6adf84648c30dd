import { Injectable } from '@nestjs/common';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { signingKey, TokenSigningKeysService } from './token-signing-keys.service.js';
import type { TokenAlgorithm } from '../access-token.js';
import type { TokenSigningKey } from './token-signing-key.entity.js';

export interface ImportedKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: CryptoKey;
}

/** Milliseconds; far below the time for which a key is published before it signs. */
const CACHED_FOR = MINUTE;
/** Milliseconds between reloads caused by tokens with unknown keys. */
const MIN_RELOAD_INTERVAL = 5 * SECOND;

/**
 * Caches the signing keys in this process. A key that another process publishes is loaded within a minute, before it
 * starts signing.
 */
@Injectable()
export class TokenKeyring {
  private keys: readonly TokenSigningKey[] = [];
  private readonly imported = new Map<string, CryptoKey>();
  private loadedAt = -Infinity;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly source: TokenSigningKeysService,
    private readonly clock: Clock,
  ) {}

  async signer(): Promise<ImportedKey> {
    if (this.age() > CACHED_FOR) await this.load();
    const key = signingKey(this.keys, this.clock.now());
    if (!key) throw new Error('There is no key to sign access tokens with');
    return this.importKey('private', key, () => this.source.open(key));
  }

  /** Returns the key that verifies a token. @returns undefined for an unknown or obsolete key */
  async verifier(kid: string): Promise<ImportedKey | undefined> {
    if (this.age() > CACHED_FOR) await this.load();
    let key = this.find(kid);
    if (!key && this.age() > MIN_RELOAD_INTERVAL) {
      await this.load();
      key = this.find(kid);
    }
    return key && this.importKey('public', key, ({ publicJwk }) => publicJwk);
  }

  private find(kid: string): TokenSigningKey | undefined {
    return this.keys.find((key) => key.kid === kid);
  }

  /** Shared by all who need it: strangers can send many tokens with unknown keys at once. */
  private load(): Promise<void> {
    this.loading ??= this.source
      .published()
      .then((keys) => {
        this.keys = keys;
        this.loadedAt = this.clock.monotonic();
      })
      .finally(() => (this.loading = undefined));
    return this.loading;
  }

  /** Returns the milliseconds since the last load. */
  private age(): number {
    return this.clock.monotonic() - this.loadedAt;
  }

  private async importKey(
    half: 'private' | 'public',
    key: TokenSigningKey,
    jwkOf: (key: TokenSigningKey) => JWK,
  ): Promise<ImportedKey> {
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
