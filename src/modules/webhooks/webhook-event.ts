import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { EventToDeliver } from './delivery.js';

export interface NewEvent extends EventToDeliver {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly createdAt: Date;
  /** When the event happened: its `timestamp`. */
  readonly occurredAt: Date;
  readonly merchantId: number | null;
  /** Sent to test an endpoint. Recovery skips it. */
  readonly isTest: boolean;
}

/** Identifies an event and its partition. */
export type EventPosition = Pick<NewEvent, 'id' | 'createdAt'>;

/** SQL for the body of an event whose user was erased. Such an event is never sent again. */
export const ERASED_BODY = `'{"erased":true}'::bytea`;
/** SQL for whether the user of an `event` was not erased. */
export const HAS_BODY = `event.body <> ${ERASED_BODY}`;

/**
 * Returns where the metadata of a session can be inserted into the body of an event that has none, in bytes: at the end of `data`. The
 * time, which follows, is a number, so these characters are not the contents of a field.
 */
export function metadataOffset(body: Buffer): number {
  return body.lastIndexOf('},"timestamp":');
}
