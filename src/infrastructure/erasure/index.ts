import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable, Global, Module } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { PlatformEnvironment } from '../config/index.js';
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

  constructor({ secretPepper = '' }: CryptoConfiguration) {
    const pepper = Buffer.from(secretPepper, 'base64');
    this.key = Buffer.from(hkdfSync('sha256', pepper, '', 'user-pseudonym', 32));
  }

  of({ clientId, externalUserId }: UserKey): string {
    const digest = createHmac('sha256', this.key)
      .update(JSON.stringify([clientId, externalUserId]))
      .digest();
    return PREFIX + digest.subarray(0, DIGEST_BYTES).toString('hex');
  }
}

@Global()
@Module({ providers: [UserPseudonyms], exports: [UserPseudonyms] })
export class ErasureModule {}

/** A user whose data are being erased. */
export interface ErasedUser extends UserKey {
  readonly environment: PlatformEnvironment;
  /** Replaces the identifier where a row has to stay. */
  readonly pseudonym: string;
}

/** A provider that erases what its module stores about a user. Annotate it with `@HoldsUserData`. */
export interface UserDataHolder {
  /**
   * Erases a part of the data that is small enough that no other statement waits long for a lock. Joins the open transaction, and
   * is repeated if that is rolled back.
   *
   * @returns how many rows or lines were erased or changed; 0 if nothing was left
   */
  eraseBatch(user: ErasedUser): Promise<number>;
}

/**
 * The order of erasing. `access`: everything with which others can act for the user, erased before the response to the request.
 * `data`: everything else. `records`: what the service writes while the other stages run, so it is erased last.
 */
const STAGES = ['access', 'data', 'records'] as const;
type Stage = (typeof STAGES)[number];

const HOLDS_USER_DATA = DiscoveryService.createDecorator<Stage>();

/** Has the annotated provider erase its data when a user is erased. It must implement `UserDataHolder`. */
export function HoldsUserData(
  stage: Stage,
): <Holder extends UserDataHolder>(target: new (...values: never[]) => Holder) => void {
  return HOLDS_USER_DATA(stage) as ClassDecorator;
}

/** Returns all holders of user data, in the order in which they have to erase. @param only the only stage; by default, all */
export function userDataHolders(discovery: DiscoveryService, only?: Stage): UserDataHolder[] {
  const providers = discovery.getProviders({ metadataKey: HOLDS_USER_DATA.KEY });
  return STAGES.filter((stage) => only === undefined || stage === only).flatMap((stage) => [
    ...new Set(
      providers
        .filter((provider) => discovery.getMetadataByDecorator(HOLDS_USER_DATA, provider) === stage)
        .map(({ instance }) => instance as UserDataHolder),
    ),
  ]);
}

/** Something about a user that is written later than it happened. */
export interface UserEntry {
  readonly clientId: string;
  readonly externalUserId: string | null;
  readonly createdAt: Date;
}

/** Port: keeps late writers from storing the identifiers of users who were erased meanwhile. */
export abstract class ErasedUsers {
  /** Returns the entries with a pseudonym in place of each user who was erased after the entry was created. */
  abstract pseudonymize<Entry extends UserEntry>(entries: readonly Entry[]): Promise<readonly Entry[]>;
}
