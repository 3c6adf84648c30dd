import type { AttributedClient } from '../../infrastructure/http/index.js';
import {
  TRANSPORT_FAILURES,
  type Fault,
  type RequestPhases,
} from '../../infrastructure/http-client/index.js';
import { MINUTE, SECOND } from '../../infrastructure/time/index.js';

/** Seconds before the second and the third attempt, unless `WEBHOOK_RETRY_SECONDS` is set. */
export const DEFAULT_RETRY_SECONDS = '180,300';
/** Spreads out the retries of deliveries that failed at the same time. */
const JITTER = 0.2;
/** The maximum number of attempts of a delivery whose attempts fail on the side of the service. */
const MAX_ATTEMPTS = 20;
/** Limit for `Retry-After`, which can only postpone an attempt. */
const MAX_RETRY_AFTER = 15 * MINUTE;

/** Returns the milliseconds until a first retry at the latest, without `Retry-After`. */
export function longestDelayOfFirstRetry(delays: readonly number[]): number {
  return (delays[0] ?? 0) * (1 + JITTER);
}

/** Returns the milliseconds until any retry at the latest. */
export function longestDelay(delays: readonly number[]): number {
  return Math.max(MAX_RETRY_AFTER, ...delays.map((delay) => delay * (1 + JITTER)));
}

/**
 * Returns the milliseconds until the next attempt, or undefined if the failed attempt was the last one.
 *
 * @param attempts number of attempts made so far
 * @param delays milliseconds before each retry (`WEBHOOK_RETRY_SECONDS`)
 * @param retryAfter milliseconds that the receiver asked for
 * @param random a number from 0 to 1 that chooses the jitter
 */
export function delayUntilRetry(
  { attempts, allowed }: { readonly attempts: number; readonly allowed: number },
  delays: readonly number[],
  retryAfter: number | undefined,
  random: number = Math.random(),
): number | undefined {
  if (attempts >= allowed) return undefined;
  const delay = delays[Math.min(attempts, delays.length) - 1] ?? 0;
  // A delivery waits for its key, however long that takes, and each attempt is an entry in the request log.
  const growing = attempts > MAX_ATTEMPTS ? SECOND * 2 ** (attempts - MAX_ATTEMPTS) : 0;
  return Math.max(
    delay * (1 + JITTER * random),
    Math.min(Math.max(retryAfter ?? 0, growing), MAX_RETRY_AFTER),
  );
}

/** A delivery that one process has claimed: until the lease expires, no other process makes this attempt. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly claimId: string;
  readonly endpointId: string;
  readonly url: string;
  /** The number of this attempt, 1 for the first. */
  readonly attempt: number;
  readonly attemptsAllowed: number;
  readonly client: AttributedClient;
  /** The client's valid secrets at the time of the claim. The first one is the active one. */
  readonly secretVersions: readonly [number, ...number[]];
  /** The revision of the endpoint's own keys and headers at the time of the claim; 0 if it never had any. */
  readonly signingRevision: number;
  readonly event: EventToDeliver;
}

/** The properties of a lane that decide which share of a process's slots it can occupy. */
export interface DeliveryLane {
  /** Null if a previous release created the lane. */
  readonly organizationId: string | null;
  /** Whether the endpoint succeeded within a day and has not failed several times in a row since. */
  readonly isProven: boolean;
}

export interface QueuedDelivery extends ClaimedDelivery {
  readonly lane: DeliveryLane;
}

/** The part of an event that its deliveries need. */
export interface EventToDeliver {
  readonly id: string;
  readonly name: string;
  readonly sessionId: string | null;
  readonly taskId: number | null;
  readonly externalUserId: string | null;
  /** The exact bytes to send, the same in every attempt. */
  readonly body: Buffer;
}

/**
 * Stable codes for why an attempt failed, as in the request log. `INTERRUPTED`: the process ended before the attempt did.
 * `KEY_UNAVAILABLE`: the service could not read the key or the headers of the endpoint, and sent nothing.
 */
export const FAILURE_REASONS = [...TRANSPORT_FAILURES, 'NON_200', 'INTERRUPTED', 'KEY_UNAVAILABLE'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export interface Outcome {
  /** The receiver's status; 0 without a response. */
  readonly statusCode: number;
  /** Null when the attempt succeeded. */
  readonly reason: FailureReason | null;
  /** Where the attempt failed, if there was no response. */
  readonly fault?: Fault;
  readonly retryAfterMilliseconds?: number;
  /** A sentence for the owner of the endpoint about why there was no response. */
  readonly explanation?: string;
  /** The beginning of the text with which the receiver failed, without secrets; null if there was none. */
  readonly responseBody: string | null;
  readonly phases: RequestPhases;
}

export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly outcome: Outcome;
}

/**
 * Returns how many attempts a delivery has after one that failed: an attempt that this side may have broken does not count,
 * except that of a test, whose sender has learned the result and expects no other attempt. A delivery without its key waits for it,
 * however long that takes.
 */
export function attemptsAllowedAfter({ delivery, outcome }: FinishedAttempt): number {
  const { attemptsAllowed } = delivery;
  const isTest = attemptsAllowed === 1;
  const isWaiting = outcome.reason === 'KEY_UNAVAILABLE' || attemptsAllowed < MAX_ATTEMPTS;
  const isFree = !isTest && (outcome.fault ?? 'theirs') !== 'theirs' && isWaiting;
  return isFree ? attemptsAllowed + 1 : attemptsAllowed;
}
