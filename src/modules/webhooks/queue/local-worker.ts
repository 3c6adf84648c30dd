import type { QueuedDelivery } from '../delivery.js';
import type { Reservation } from './attempt-slots.js';

/** The worker of this process, as the queue sees it. */
export interface LocalWorker {
  readonly id: number;
  /**
   * The process to which a new claim is attributed; null while its connection for notifications is lost, although others are not.
   * Others would otherwise count the attempt as interrupted and send the webhook again.
   */
  readonly claimant: number | null;
  /** The claims whose attempts it is making, or has made and not settled. */
  readonly claimIds: Iterable<string>;
  /** Whether it has been connected for so long that other workers are connected, too, if they run. */
  readonly seesOthers: boolean;
  /** Called after a settlement if a lane has further deliveries that are due. */
  onLaneDue(): void;
  /** The claim that runs. Meanwhile, no slots can be reserved. */
  readonly runningClaim: Promise<unknown> | undefined;
  reserve(organizationIds: ReadonlySet<string>): Reservation;
  start(delivery: QueuedDelivery): void;
}
