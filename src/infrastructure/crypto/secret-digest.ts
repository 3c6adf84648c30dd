import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from './crypto.configuration.js';

/** Returns the SHA-256 of a text. A secret of 256 random bits needs no slower hash. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/**
 * Computes digests with a secret key, the pepper. Without it, a dump of the database does not reveal even short values,
 * such as user codes.
 */
@Injectable()
export class SecretDigest {
  private readonly pepper: Buffer;

  constructor(configuration: CryptoConfiguration) {
    this.pepper = Buffer.from(configuration.secretPepper ?? '', 'base64');
  }

  of(secret: string): Buffer {
    return createHmac('sha256', this.pepper).update(secret, 'utf8').digest();
  }

  /** Compares two digests in constant time. */
  static equal(left: Buffer, right: Buffer): boolean {
    return left.length === right.length && timingSafeEqual(left, right);
  }
}
