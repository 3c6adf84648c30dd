import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CryptoConfiguration } from '../crypto/index.js';

export interface UserKey {
  readonly clientId: string;
  readonly externalUserId: string;
}

const PREFIX = 'erased_';
/** Bytes of the digest. Enough that two users of a client never share a pseudonym. */
const DIGEST_BYTES = 16;

/**
 * Computes the text that replaces a user's identifier: the same for each erasure of the same user, so that counts stay right, and
 * different for the users of other clients. Without the key, nobody can find out which identifier it stands for.
 */
@Injectable()
export class UserPseudonyms {
  private readonly key: Buffer;

  constructor(configuration: CryptoConfiguration) {
    this.key = configuration.derivedKey('user-pseudonym');
  }

  of({ clientId, externalUserId }: UserKey): string {
    const digest = createHmac('sha256', this.key)
      .update(JSON.stringify([clientId, externalUserId]))
      .digest();
    return PREFIX + digest.subarray(0, DIGEST_BYTES).toString('hex');
  }
}
