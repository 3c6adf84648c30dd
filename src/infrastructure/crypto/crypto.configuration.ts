import { IsOptional, Matches } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

/** 32 bytes in base64: 43 characters and one of padding. */
const KEY_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;
const KEY_MESSAGE = { message: '$property must be 32 random bytes in base64 (openssl rand -base64 32)' };

/** The two keys that a dump of the database does not hold. */
@Configuration('Keys')
export class CryptoConfiguration {
  @EnvironmentVariable(
    'SECRET_PEPPER',
    'Key of the digests by which API secrets are checked: 32 bytes in base64. Generated beside the data outside production.',
    { secret: true },
  )
  @IsOptional()
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  secretPepper?: string;

  @EnvironmentVariable(
    'KEY_ENCRYPTION_KEY',
    'Key that wraps the data keys under which secrets and personal data are sealed: 32 bytes in base64. Generated beside the data outside production.',
    { secret: true },
  )
  @IsOptional()
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  keyEncryptionKey?: string;

  @EnvironmentVariable(
    'PREVIOUS_KEY_ENCRYPTION_KEY',
    'While `KEY_ENCRYPTION_KEY` is changed: the one before, which the data keys may still be wrapped with.',
    { secret: true },
  )
  @IsOptional()
  @Matches(KEY_OF_32_BYTES, KEY_MESSAGE)
  previousKeyEncryptionKey?: string;
}
