import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from '../crypto/index.js';
import { INVALID_CURSOR_FORMAT } from './paging-errors.js';

const VERSION = 1;
const SIGNATURE_BYTES = 16;
/** Characters; ours are far shorter. Looked at before anything is decoded. */
const MAX_CURSOR_LENGTH = 512;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** What a cursor belongs to: the list, whose it is, and the filters. It is of no use anywhere else. */
export type CursorScope = readonly (string | number | null)[];

/**
 * Cursors that only we can make: the position in a list, signed together with what it belongs to. The scope
 * is not in the cursor, it only goes into the signature, so a cursor stays short and tells nothing.
 */
@Injectable()
export class CursorCodec {
  private readonly key: Buffer;

  constructor(configuration: CryptoConfiguration) {
    const pepper = Buffer.from(configuration.secretPepper ?? '', 'base64');
    this.key = Buffer.from(hkdfSync('sha256', pepper, '', 'cursor', 32));
  }

  encode(position: readonly (string | number)[], scope: CursorScope): string {
    const content = Buffer.from(JSON.stringify(position), 'utf8');
    return Buffer.concat([Buffer.of(VERSION), this.sign(content, scope), content]).toString('base64url');
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT when it is not one of ours, or not of this scope */
  decode(cursor: string, scope: CursorScope): (string | number)[] {
    if (cursor.length > MAX_CURSOR_LENGTH || !BASE64URL.test(cursor)) throw INVALID_CURSOR_FORMAT.error();
    const bytes = Buffer.from(cursor, 'base64url');
    const content = bytes.subarray(1 + SIGNATURE_BYTES);
    const signature = bytes.subarray(1, 1 + SIGNATURE_BYTES);
    const genuine =
      // One spelling for each value: base64url ignores the last bits.
      bytes.toString('base64url') === cursor &&
      bytes[0] === VERSION &&
      signature.length === SIGNATURE_BYTES &&
      timingSafeEqual(signature, this.sign(content, scope));
    if (!genuine) throw INVALID_CURSOR_FORMAT.error();
    return JSON.parse(content.toString('utf8')) as (string | number)[];
  }

  private sign(content: Buffer, scope: CursorScope): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([VERSION, scope]))
      .update('\0')
      .update(content)
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}
