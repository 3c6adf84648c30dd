import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/index.js';
import { Clock, HOUR } from '../time/index.js';
import { isBefore } from './issued-token.entity.js';
import type { SecretVersion } from './secret-version.entity.js';

/** A statement has parameters for so many. A version that 0.4.0 or an earlier release has left may wait for a later rotation. */
const DELETED_AT_ONCE = 1_000;

/** Until when a version without overlap is accepted: it must not be accepted again if the clock is set back. */
const BEGINNING = new Date(0);

type VersionDates = Pick<SecretVersion, 'version' | 'signsFrom' | 'acceptedUntil'>;

type VersionEntity = new () => SecretVersion;

export interface VersionsOverview {
  /** 0 if there is none. */
  readonly newestVersion: number;
  /** During a rotation, the previous version signs webhooks first, until the newest one is activated or the overlap ends. */
  readonly signingVersion: number;
  /** Until when the previous version is still accepted; null if only the newest is. */
  readonly overlapEndsAt: Date | null;
}

/** Returns the versions that are accepted at a time, the one that signs first. */
export function acceptedVersions<Version extends VersionDates>(
  versions: readonly Version[],
  now: Date,
): Version[] {
  return versions
    .filter(({ acceptedUntil }) => isBefore(now, acceptedUntil))
    .toSorted(
      (one, other) =>
        Number(other.signsFrom <= now) - Number(one.signsFrom <= now) || other.version - one.version,
    );
}

/** Rotates secrets and keys, of which at most two versions are accepted. All methods require the versions newest first. */
@Injectable()
export class SecretVersions {
  constructor(
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  overviewOf(versions: readonly VersionDates[]): VersionsOverview {
    const now = this.clock.now();
    const overlapEndsAt = versions[1]?.acceptedUntil ?? null;
    return {
      newestVersion: versions[0]?.version ?? 0,
      signingVersion: acceptedVersions(versions, now)[0]?.version ?? 0,
      overlapEndsAt: overlapEndsAt && overlapEndsAt > now ? overlapEndsAt : null,
    };
  }

  /**
   * Ends the newest version after an overlap. The calling code has locked the owner of the versions, and adds the next one.
   *
   * Deletes all but the newest two, with which a message in progress may still be signed: whoever reads the versions reads all.
   *
   * @param overlapHours 0 after a leak, which also ends an overlap that is in progress
   * @param inProgress creates the error that is thrown if an overlap is in progress
   * @returns the properties of the next version
   */
  async replace(
    entity: VersionEntity,
    versions: readonly SecretVersion[],
    overlapHours: number,
    inProgress: () => Error,
  ): Promise<VersionDates> {
    const [newest, previous, ...older] = versions;
    if (previous && this.overviewOf(versions).overlapEndsAt) {
      // After a leak, nobody must have to wait for the end of the overlap.
      if (overlapHours > 0) throw inProgress();
      await this.transaction.manager.update(entity, previous.id, { acceptedUntil: BEGINNING });
    }
    const deletable = older.slice(-DELETED_AT_ONCE).map(({ id }) => id);
    if (deletable.length > 0) await this.transaction.manager.delete(entity, deletable);
    const signsFrom = new Date(this.clock.milliseconds() + overlapHours * HOUR);
    const acceptedUntil = overlapHours === 0 ? BEGINNING : signsFrom;
    if (newest) await this.transaction.manager.update(entity, newest.id, { acceptedUntil });
    return { version: (newest?.version ?? 0) + 1, signsFrom, acceptedUntil: null };
  }

  /** Makes the newest version sign webhooks from now on. @returns whether another one signed them until now */
  async activate(entity: VersionEntity, [newest]: readonly SecretVersion[]): Promise<boolean> {
    if (!newest || newest.signsFrom <= this.clock.now()) return false;
    // Sets a time in the past, so that even a database whose clock is behind uses the version at once.
    await this.transaction.manager.update(entity, newest.id, { signsFrom: newest.createdAt });
    return true;
  }
}
