import { EnumProperty, IntegerProperty, TimestampProperty } from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { TimestampField } from '../../../infrastructure/validation/index.js';

export const RECOVERY_STATUSES = ['none', 'running', 'finished'] as const;
const RECOVERY_STATUS = enumeration('RecoveryStatus', RECOVERY_STATUSES, 'How far a recovery is.');

export class RecoverRequest {
  @TimestampField({
    description: 'Start of the period. A time before the oldest entry of the request log counts as that.',
    example: '2026-01-31T08:00:00Z',
  })
  since!: string;
}

export class RecoveryResponse {
  @EnumProperty(
    RECOVERY_STATUS,
    'Whether the recovery is running or finished; `none` if there has not been one.',
    'running',
  )
  status!: (typeof RECOVERY_STATUSES)[number];

  @TimestampProperty('Start of the period.', '2026-01-31T08:00:00.000Z', { nullable: true })
  since!: Date | null;

  @IntegerProperty('Number of deliveries that the recovery has added to the queue.', 118, { minimum: 0 })
  queued!: number;

  @TimestampProperty('When the recovery was requested.', undefined, { nullable: true })
  requested_at!: Date | null;

  @TimestampProperty('When the recovery finished; null while it is running.', null, { nullable: true })
  finished_at!: Date | null;
}
