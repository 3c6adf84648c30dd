import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from './crypto.configuration.js';
import { INVALID_CURSOR_FORMAT } from './crypto-errors.js';

const VERSION = 1;
const SIGNATURE_BYTES = 16;
/** Characters; valid cursors are far shorter. Checked before anything is decoded. */
const MAX_CURSOR_LENGTH = 512;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** The list, its owner and the filters that a cursor is valid for. An absent filter counts as null. */
export type CursorScope = readonly (string | number | null | undefined)[];

/**
 * Encodes positions in lists as signed cursors that clients cannot forge. The signature covers the scope but the cursor
 * does not contain it, so cursors are short and reveal nothing.
 */
@Injectable()
export class CursorCodec {
  private readonly key: Buffer;

  constructor(configuration: CryptoConfiguration) {
    this.key = configuration.derivedKey('cursor');
  }

  encode(position: readonly (string | number)[], scope: CursorScope): string {
    const content = Buffer.from(JSON.stringify(position), 'utf8');
    return Buffer.concat([Buffer.of(VERSION), this.sign(content, scope), content]).toString('base64url');
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT if the cursor is not valid or belongs to another scope */
  decode(cursor: string, scope: CursorScope): (string | number)[] {
    if (cursor.length > MAX_CURSOR_LENGTH || !BASE64URL.test(cursor)) throw INVALID_CURSOR_FORMAT.error();
    const bytes = Buffer.from(cursor, 'base64url');
    const content = bytes.subarray(1 + SIGNATURE_BYTES);
    const signature = bytes.subarray(1, 1 + SIGNATURE_BYTES);
    const genuine =
      // Base64url decoding ignores the last bits, so several spellings decode alike. Only the canonical one is
      // accepted.
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
