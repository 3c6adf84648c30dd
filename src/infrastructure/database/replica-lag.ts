import { SECOND } from '../time/index.js';

/** A position in the write-ahead log of the primary, and when the primary was there. */
interface WrittenPosition {
  readonly position: bigint;
  /** Milliseconds of a monotonic clock: the first and the last time. */
  readonly since: number;
  until: number;
}

/** Limits the memory while a replica is down: from then on, positions are forgotten evenly, but never the oldest. */
const MAX_POSITIONS = 1_000;

/**
 * Computes how far a replica is behind its primary: the age of the oldest position of the primary that the replica has not
 * replayed. The other usual measures are wrong: `now() - pg_last_xact_replay_timestamp()` grows while nobody writes, and a
 * replica that has replayed all that it received may have lost the connection to its primary.
 */
export class ReplicaLag {
  private positions: WrittenPosition[] = [];
  private last: { readonly position: bigint; readonly time: number } | undefined;
  private replayedPosition: bigint | undefined;
  private isKnown = false;
  private completeAt = -Infinity;

  /** @param time when the position was requested, so everything that was visible before is part of it */
  written(position: bigint, time: number): void {
    // After a failover, the new primary may be behind the old one, and its positions mean other changes.
    if (this.last && position < this.last.position) {
      this.positions = [];
      this.replayedPosition = undefined;
      this.isKnown = false;
    }
    this.last = { position, time };
    const newest = this.positions.at(-1);
    if (newest?.position === position) newest.until = time;
    else this.positions.push({ position, since: time, until: time });
    if (this.positions.length > MAX_POSITIONS)
      this.positions = this.positions.filter((_, index) => index % 2 === 0);
  }

  replayed(position: bigint): void {
    this.replayedPosition = position;
    for (let oldest = this.positions[0]; oldest && oldest.position <= position; oldest = this.positions[0]) {
      this.isKnown = true;
      this.completeAt = oldest.until;
      this.positions.shift();
    }
  }

  /**
   * Returns undefined until the replica has replayed a position of the primary. While the primary is unavailable, the lag
   * stays as it is, because nothing shows that there is anything newer.
   */
  get seconds(): number | undefined {
    return this.isKnown ? this.minimumSeconds : undefined;
  }

  /** The lag, or less than the lag while that is not known. */
  get minimumSeconds(): number {
    const [oldest] = this.positions;
    return this.last && oldest ? (this.last.time - oldest.since) / SECOND : 0;
  }

  /** Returns whether the replica is known to have replayed this position. */
  hasReplayed(position: bigint): boolean {
    return this.replayedPosition !== undefined && this.replayedPosition >= position;
  }

  /** Returns whether the replica has everything that was visible on the primary at this time. */
  includes(time: number): boolean {
    return this.completeAt >= time;
  }
}
