import { DiscoveryService } from '@nestjs/core';
import type { PlatformEnvironment } from '../config/index.js';
import type { UserKey } from './user-pseudonyms.js';

export { ErasureModule } from './erasure.module.js';
export { UserPseudonyms, type UserKey } from './user-pseudonyms.js';

/** A user whose data are being erased. */
export interface ErasedUser extends UserKey {
  readonly environment: PlatformEnvironment;
  readonly organizationId: string;
  /** Replaces the identifier where a row has to stay. */
  readonly pseudonym: string;
}

/**
 * Returns a regular expression of PostgreSQL that finds an identifier in a text. A short one, such as `7`, is no part of another
 * word. The text before it is the first group.
 */
export function asWord(identifier: string): string {
  const escaped = identifier.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
  return `(^|[^[:alnum:]])${escaped}(?=$|[^[:alnum:]])`;
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
  /**
   * Returns the entries without the users who were erased after the entry was created.
   *
   * @param anonymize returns an entry with the pseudonym in place of its user, and without what may repeat the identifier
   */
  abstract pseudonymize<Entry extends UserEntry>(
    entries: readonly Entry[],
    anonymize: (entry: Entry, pseudonym: string) => Entry,
  ): Promise<readonly Entry[]>;
}
