import type { DeliveryLane } from '../delivery.js';

/**
 * Shares of the slots of one process. The rest is left to other organizations, and to endpoints with a recent success:
 * an endpoint that does not respond occupies its slots for 10 seconds per attempt.
 */
const SHARE_OF_ORGANIZATION = 0.5;
const SHARE_OF_UNPROVEN = 0.5;
/** Until this share is used, unproven endpoints can have more than one attempt in flight. */
const SHARE_OF_UNPROVEN_BEYOND_FIRST = 0.125;

/** Slots that nothing else uses until they are released. */
export interface Reservation {
  readonly total: number;
  readonly perOrganization: ReadonlyMap<string, number>;
  release(): void;
}

/** Counts the attempts that this process has in flight, in total, per organization, and to unproven endpoints. */
export class AttemptSlots {
  private used = 0;
  private usedByUnproven = 0;
  private readonly usedByOrganization = new Map<string, number>();

  constructor(readonly total: number) {}

  get free(): number {
    return this.total - this.used;
  }

  get freeForUnproven(): number {
    const share = Math.floor(this.total * SHARE_OF_UNPROVEN);
    return Math.max(0, Math.min(this.free, share - this.usedByUnproven));
  }

  /** Slots that unproven endpoints can use besides the first one of each. */
  get furtherForUnproven(): number {
    return Math.max(0, Math.floor(this.total * SHARE_OF_UNPROVEN_BEYOND_FIRST) - this.usedByUnproven);
  }

  get fullOrganizations(): string[] {
    return [...this.usedByOrganization.keys()].filter((id) => this.freeFor(id) === 0);
  }

  /** @param organizationId null for a lane that a previous release created, which has no limit of its own */
  freeFor(organizationId: string | null): number {
    if (organizationId === null) return this.free;
    const share = Math.floor(this.total * SHARE_OF_ORGANIZATION);
    return Math.max(0, share - (this.usedByOrganization.get(organizationId) ?? 0));
  }

  /** Returns whether no further attempt can start for the reason that limits this one. */
  isFullFor({ organizationId, isProven }: DeliveryLane): boolean {
    return this.freeFor(organizationId) === 0 || (!isProven && this.freeForUnproven === 0) || this.free === 0;
  }

  /**
   * Keeps half of the free slots of each organization for one statement that publishes, or half of all slots that are still free
   * if those are fewer.
   *
   * @returns how many they are, and a function that frees them
   */
  reserve(organizationIds: ReadonlySet<string>): Reservation {
    const perOrganization = new Map<string, number>();
    let total = 0;
    for (const id of organizationIds) {
      const count = Math.floor(Math.min(this.freeFor(id), this.free - total) / 2);
      perOrganization.set(id, count);
      total += count;
    }
    const change = (sign: 1 | -1): void => {
      for (const [id, count] of perOrganization) this.change(sign * count, id, true);
    };
    change(1);
    return { total, perOrganization, release: () => change(-1) };
  }

  /** @returns a function that frees the slot */
  occupy({ organizationId, isProven }: DeliveryLane): () => void {
    this.change(1, organizationId, isProven);
    return () => this.change(-1, organizationId, isProven);
  }

  private change(difference: number, organizationId: string | null, isProven: boolean): void {
    this.used += difference;
    if (!isProven) this.usedByUnproven += difference;
    if (organizationId === null) return;
    const used = (this.usedByOrganization.get(organizationId) ?? 0) + difference;
    if (used === 0) this.usedByOrganization.delete(organizationId);
    else this.usedByOrganization.set(organizationId, used);
  }
}
