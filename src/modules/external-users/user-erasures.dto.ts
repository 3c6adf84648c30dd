import { EnumProperty, IntegerProperty, TimestampProperty } from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ExternalUserIdField } from '../../infrastructure/validation/index.js';
import type { UserErasure } from './user-erasure.entity.js';

const ERASURE_STATUS = enumeration(
  'UserErasureStatus',
  ['running', 'finished'] as const,
  'Whether the erasure is still running.',
);

export class ExternalUserPath {
  @ExternalUserIdField({ in: 'path' })
  external_user_id!: string;
}

export class EraseUserRequest {
  @ExternalUserIdField()
  external_user_id!: string;
}

export class ErasureQuery {
  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;
}

export class UserErasureResponse {
  @EnumProperty(ERASURE_STATUS, 'Whether everything is erased.', 'running')
  status!: (typeof ERASURE_STATUS.values)[number];

  @IntegerProperty('Number of records that were erased, or that no longer name the user.', 12, {
    format: 'int64',
    minimum: 0,
  })
  erased!: number;

  @TimestampProperty('When the erasure was last requested.')
  requested_at!: Date;

  @TimestampProperty('When the erasure was finished; null while it is running.', undefined, {
    nullable: true,
  })
  finished_at!: Date | null;
}

export function toErasureResponse({ erased, requestedAt, finishedAt }: UserErasure): UserErasureResponse {
  return {
    status: finishedAt ? 'finished' : 'running',
    erased: Number(erased),
    requested_at: requestedAt,
    finished_at: finishedAt,
  };
}
