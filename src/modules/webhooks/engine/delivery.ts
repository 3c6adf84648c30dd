import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { RequestPhases, TransportFailure } from '../../../infrastructure/http-client/index.js';

/** A delivery that a process has claimed: it alone makes this attempt, until the lease ends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly claimId: string;
  readonly endpointId: string;
  readonly url: string;
  /** The number of this attempt, 1 for the first. */
  readonly attempt: number;
  readonly attemptsAllowed: number;
  readonly client: AttributedClient;
  readonly event: DeliveredEvent;
}

/** An event as its deliveries need it. */
export interface DeliveredEvent {
  readonly id: string;
  readonly name: string;
  readonly sessionId: string | null;
  readonly taskId: number | null;
  readonly externalUserId: string | null;
  /** The bytes that are sent, every time the same. */
  readonly body: Buffer;
}

/** Why an attempt failed, as the log tells it; stable. `INTERRUPTED`: the process that made it ended. */
export type FailureReason = TransportFailure | 'NON_200' | 'INTERRUPTED';

/** How an attempt ended. */
export interface Outcome {
  /** What the receiver answered; 0 when it did not. */
  readonly statusCode: number;
  /** Null when it succeeded, which is status 200 and nothing else. */
  readonly reason: FailureReason | null;
  readonly retryAfterMilliseconds?: number;
  /** Why no answer came, for people. */
  readonly explanation?: string;
  readonly phases: RequestPhases;
}

/** An attempt that is over. */
export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly outcome: Outcome;
}
