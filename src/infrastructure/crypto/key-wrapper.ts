import { Injectable } from '@nestjs/common';
import { decrypt, encrypt } from './authenticated-encryption.js';
import { CryptoConfiguration } from './crypto.configuration.js';

/** Wraps data keys under a key-encryption key that this process may not even hold. A cloud KMS fits behind it. */
export abstract class KeyWrapper {
  abstract wrap(dataKey: Buffer): Promise<Buffer>;
  /** Rejects when the wrapped key was made under another key-encryption key. */
  abstract unwrap(wrapped: Buffer): Promise<Buffer>;
}

const PURPOSE = Buffer.from('data-key');

/** The key-encryption keys come from the configuration: variables or files. */
@Injectable()
export class LocalKeyWrapper extends KeyWrapper {
  private readonly key: Buffer;
  /** While the key-encryption key is changed, some data keys are wrapped with the one before. */
  private readonly previous: Buffer | undefined;

  constructor({ keyEncryptionKey = '', previousKeyEncryptionKey }: CryptoConfiguration) {
    super();
    this.key = Buffer.from(keyEncryptionKey, 'base64');
    this.previous = previousKeyEncryptionKey ? Buffer.from(previousKeyEncryptionKey, 'base64') : undefined;
  }

  async wrap(dataKey: Buffer): Promise<Buffer> {
    return encrypt(this.key, dataKey, PURPOSE);
  }

  async unwrap(wrapped: Buffer): Promise<Buffer> {
    try {
      return decrypt(this.key, wrapped, PURPOSE);
    } catch (error) {
      if (!this.previous) throw error;
      return decrypt(this.previous, wrapped, PURPOSE);
    }
  }
}
