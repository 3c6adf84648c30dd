import { Injectable } from '@nestjs/common';
import { decrypt, encrypt } from './authenticated-encryption.js';
import { CryptoConfiguration } from './crypto.configuration.js';

const PURPOSE = Buffer.from('data-key');

/**
 * Encrypts data keys with a key-encryption key, which the configuration contains. The methods are asynchronous so that a cloud KMS
 * can hold the key instead.
 */
@Injectable()
export class KeyWrapper {
  private readonly key: Buffer;
  /** While the key-encryption key is being changed, some data keys are encrypted with the previous one. */
  private readonly previous: Buffer | undefined;

  constructor({ keyEncryptionKey = '', previousKeyEncryptionKey }: CryptoConfiguration) {
    this.key = Buffer.from(keyEncryptionKey, 'base64');
    this.previous = previousKeyEncryptionKey ? Buffer.from(previousKeyEncryptionKey, 'base64') : undefined;
  }

  async wrap(dataKey: Buffer): Promise<Buffer> {
    return encrypt(this.key, dataKey, PURPOSE);
  }

  /** Rejects if the data key was encrypted with another key-encryption key. */
  async unwrap(wrapped: Buffer): Promise<Buffer> {
    try {
      return decrypt(this.key, wrapped, PURPOSE);
    } catch (error) {
      if (!this.previous) throw error;
      return decrypt(this.previous, wrapped, PURPOSE);
    }
  }
}
