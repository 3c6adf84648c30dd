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

/** The key-encryption key comes from the configuration: a variable or a file. */
@Injectable()
export class LocalKeyWrapper extends KeyWrapper {
  private readonly key: Buffer;

  constructor(configuration: CryptoConfiguration) {
    super();
    this.key = Buffer.from(configuration.keyEncryptionKey ?? '', 'base64');
  }

  async wrap(dataKey: Buffer): Promise<Buffer> {
    return encrypt(this.key, dataKey, PURPOSE);
  }

  async unwrap(wrapped: Buffer): Promise<Buffer> {
    return decrypt(this.key, wrapped, PURPOSE);
  }
}
