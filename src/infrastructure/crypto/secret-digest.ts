import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from './crypto.configuration.js';

/** SHA-256: enough for a value of 256 random bits that only its bearer knows. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Digests under the pepper, so that a dump of the database alone allows no login. */
@Injectable()
export class SecretDigest {
  private readonly pepper: Buffer;

  constructor(configuration: CryptoConfiguration) {
    this.pepper = Buffer.from(configuration.secretPepper ?? '', 'base64');
  }

  /** HMAC-SHA-256 of the secret under the pepper. A 256-bit random secret needs no slow hash. */
  of(secret: string): Buffer {
    return createHmac('sha256', this.pepper).update(secret, 'utf8').digest();
  }

  /** Compares two digests in constant time. */
  static equal(left: Buffer, right: Buffer): boolean {
    return left.length === right.length && timingSafeEqual(left, right);
  }
}
