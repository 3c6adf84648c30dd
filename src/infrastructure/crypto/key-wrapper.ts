import { Injectable } from '@nestjs/common';
import { decrypt, encrypt } from './authenticated-encryption.js';
import { CryptoConfiguration } from './crypto.configuration.js';

/** Encrypts data keys with a key-encryption key, which may be outside of this process, such as in a cloud KMS. */
export abstract class KeyWrapper {
  abstract wrap(dataKey: Buffer): Promise<Buffer>;
  /** Rejects if the data key was encrypted with another key-encryption key. */
  abstract unwrap(wrapped: Buffer): Promise<Buffer>;
}

const PURPOSE = Buffer.from('data-key');

/** Takes the key-encryption keys from the configuration. */
@Injectable()
export class LocalKeyWrapper extends KeyWrapper {
  private readonly key: Buffer;
  /** While the key-encryption key is being changed, some data keys are encrypted with the previous one. */
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
