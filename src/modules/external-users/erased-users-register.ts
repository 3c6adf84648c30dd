import { Injectable } from '@nestjs/common';
import { ErasedUsers, UserPseudonyms, type UserEntry } from '../../infrastructure/erasure/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { UserErasuresRepository } from './user-erasures.repository.js';

/**
 * Milliseconds. Entries that are written within this time need no check, because an erasure that was requested before looks for
 * entries again after `SETTLING_TIME`. That keeps the check away from all usual requests.
 */
const PROMPT = 30 * SECOND;

/** Knows the users who were erased within the last year. */
@Injectable()
export class ErasedUsersRegister extends ErasedUsers {
  constructor(
    private readonly repository: UserErasuresRepository,
    private readonly pseudonyms: UserPseudonyms,
    private readonly clock: Clock,
  ) {
    super();
  }

  async pseudonymize<Entry extends UserEntry>(
    entries: readonly Entry[],
    anonymize: (entry: Entry, pseudonym: string) => Entry,
  ): Promise<readonly Entry[]> {
    const promptSince = this.clock.milliseconds() - PROMPT;
    const late = new Map<Entry, string>();
    for (const entry of entries) {
      const { clientId, externalUserId, createdAt } = entry;
      if (externalUserId !== null && createdAt.getTime() < promptSince)
        late.set(entry, this.pseudonyms.of({ clientId, externalUserId }));
    }
    if (late.size === 0) return entries;
    const users = [...late].map(([{ clientId }, pseudonym]) => ({ clientId, pseudonym }));
    const erasures = await this.repository.findAll(users);
    // A pseudonym belongs to one client.
    const byUser = new Map(erasures.map((erasure) => [erasure.pseudonym, erasure]));
    return entries.map((entry) => {
      const erasure = byUser.get(late.get(entry) ?? '');
      const isErased = erasure && (!erasure.finishedAt || entry.createdAt <= erasure.finishedAt);
      return isErased ? anonymize(entry, erasure.pseudonym) : entry;
    });
  }
}
