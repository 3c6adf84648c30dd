import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from './crypto.configuration.js';

/** Returns the SHA-256 of a text. A secret of 256 random bits needs no stronger hash. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Computes digests with the pepper, so that a dump of the database alone does not allow a login. */
@Injectable()
export class SecretDigest {
  private readonly pepper: Buffer;

  constructor(configuration: CryptoConfiguration) {
    this.pepper = Buffer.from(configuration.secretPepper ?? '', 'base64');
  }

  /** Returns the HMAC-SHA-256 of the secret. A secret of 256 random bits needs no slow hash. */
  of(secret: string): Buffer {
    return createHmac('sha256', this.pepper).update(secret, 'utf8').digest();
  }

  /** Compares two digests in constant time. */
  static equal(left: Buffer, right: Buffer): boolean {
    return left.length === right.length && timingSafeEqual(left, right);
  }
}
