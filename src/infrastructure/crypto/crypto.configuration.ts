import { hkdfSync } from 'node:crypto';
import { Matches } from 'class-validator';
import { Configuration, EnvironmentVariable, type ProductionRules } from '../config/index.js';

/** 32 bytes in base64 are 43 characters and one padding character. */
const KEY_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;
const KEY_MESSAGE = { message: '$property must be 32 random bytes in base64 (openssl rand -base64 32)' };

/** Keys that are not stored in the database, so that a dump of it reveals no secrets. */
@Configuration('Keys')
export class CryptoConfiguration implements ProductionRules {
  @EnvironmentVariable(
    'SECRET_PEPPER',
    'Key for the digests of API secrets: 32 bytes in base64. Outside production, the default is generated in `DATA_DIR`.',
    { secret: true },
  )
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  secretPepper?: string;

  @EnvironmentVariable(
    'KEY_ENCRYPTION_KEY',
    'Key that encrypts the data keys, which encrypt secrets and personal data: 32 bytes in base64. Outside production, the default is generated in `DATA_DIR`.',
    { secret: true },
  )
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  keyEncryptionKey?: string;

  @EnvironmentVariable(
    'PREVIOUS_KEY_ENCRYPTION_KEY',
    'The previous `KEY_ENCRYPTION_KEY`. Set it while you change the key: data keys may still be encrypted with the previous one.',
    { secret: true },
  )
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  previousKeyEncryptionKey?: string;

  /** Derives 32 bytes from the pepper, others for each purpose. */
  derivedKey(purpose: string): Buffer {
    const pepper = Buffer.from(this.secretPepper ?? '', 'base64');
    return Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
  }

  productionProblems(): string[] {
    const keys = { SECRET_PEPPER: this.secretPepper, KEY_ENCRYPTION_KEY: this.keyEncryptionKey };
    const problems = Object.entries(keys).flatMap(([name, key]) => {
      if (key === undefined) return [`${name} is required in production.`];
      return new Set(Buffer.from(key, 'base64')).size > 1
        ? []
        : [`${name} repeats one byte: generate a random key (openssl rand -base64 32).`];
    });
    if (this.secretPepper !== undefined && this.secretPepper === this.keyEncryptionKey)
      problems.push('SECRET_PEPPER and KEY_ENCRYPTION_KEY are equal: generate a key for each.');
    return problems;
  }
}
