import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Field, siblingOf, TimestampField } from '../../infrastructure/validation/index.js';
import {
  AUDIT_ACTION_NAMES,
  AUDIT_OUTCOMES,
  AUDIT_TARGET_TYPES,
  type AuditAction,
  type AuditOutcome,
} from './audit-actions.js';

const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ';

/** Accepts any text: the service refuses invalid cursors with an error code of their own. */
function CursorField(description: string, ...validators: PropertyDecorator[]): PropertyDecorator {
  const schema = { type: String };
  return Field({ in: 'query', required: false, schema, description, example: EXAMPLE_CURSOR }, ...validators);
}

function IsSameAsCursor(): PropertyDecorator {
  const validate = (value: unknown, context?: ValidationArguments): boolean => {
    const cursor = siblingOf(context, 'cursor');
    return cursor === undefined || value === cursor;
  };
  return ValidateBy(
    { name: 'isSameAsCursor', validator: { validate } },
    { message: () => 'The cursor and next cursor fields must not differ.' },
  );
}

export class ListAuditLogsQuery {
  @TimestampField({
    in: 'query',
    required: false,
    description: 'Only entries created at or after this time.',
    example: '2026-01-01T00:00:00Z',
  })
  start?: string;

  @TimestampField({
    in: 'query',
    required: false,
    notBefore: 'start',
    description: 'Only entries created at or before this time.',
    example: '2026-01-31T23:59:59Z',
  })
  end?: string;

  @CursorField('The `next_cursor` of the previous page. Send the same `start` and `end` again.')
  cursor?: string;

  @CursorField('Another name for `cursor`.', IsSameAsCursor())
  next_cursor?: string;
}

@ApiSchema({ description: 'The outcome of the action.' })
export class AuditOutcomeResponse {
  @ApiProperty({
    enum: AUDIT_OUTCOMES,
    description:
      '`denied`: the user is not allowed to do this. `failure`: the attempt did not succeed, for example because of ' +
      'a wrong password.',
    example: 'success',
  })
  status!: AuditOutcome;
}

@ApiSchema({ description: 'The action and its outcome.' })
export class AuditEventResponse {
  @ApiProperty({
    enum: AUDIT_ACTION_NAMES,
    enumName: 'AuditAction',
    description: 'The action. More actions may be added.',
    example: 'secret.view',
  })
  action!: AuditAction;

  @ApiProperty({ type: AuditOutcomeResponse, description: 'The outcome of the action.' })
  outcome!: AuditOutcomeResponse;
}

@ApiSchema({ description: 'The dashboard user who performed the action.' })
export class AuditActorResponse {
  @ApiProperty({ type: String, description: 'Name of the user at the time.', example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({
    type: String,
    description: 'Email address of the user at the time.',
    example: 'ada@example.com',
  })
  email!: string;
}

@ApiSchema({ description: 'The target of the action.' })
export class AuditTargetResponse {
  @ApiProperty({
    type: String,
    description: `The kind of target: ${AUDIT_TARGET_TYPES.map((type) => `\`${type}\``).join(', ')}. More may be added.`,
    example: 'secret',
  })
  type!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the target at the time; null if it has no name.',
    example: null,
  })
  name!: string | null;

  @ApiProperty({
    enum: ENVIRONMENTS,
    description:
      'The environment of the target. Targets that belong to the whole organization, such as users and domains, ' +
      'count as `production`.',
    example: 'production',
  })
  environment!: PlatformEnvironment;
}

@ApiSchema({ description: 'Where the user performed the action.' })
export class AuditContextResponse {
  @ApiProperty({ type: String, description: 'IP address of the user.', example: '203.0.113.7' })
  ip!: string;

  @ApiProperty({
    type: String,
    description: 'First 512 characters of the `User-Agent` header of the user’s browser or program.',
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  })
  user_agent!: string;
}

export class AuditLogEntryResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the entry.',
    example: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the action happened.',
    example: '2026-01-31T08:15:30.123Z',
  })
  datetime!: Date;

  @ApiProperty({ type: AuditEventResponse, description: 'The action and its outcome.' })
  event!: AuditEventResponse;

  @ApiProperty({ type: AuditActorResponse, description: 'The dashboard user who performed the action.' })
  actor!: AuditActorResponse;

  @ApiProperty({ type: AuditTargetResponse, description: 'The target of the action.' })
  target!: AuditTargetResponse;

  @ApiProperty({ type: AuditContextResponse, description: 'Where the user performed the action.' })
  context!: AuditContextResponse;
}

export class AuditLogListResponse {
  @ApiProperty({ type: [AuditLogEntryResponse], description: 'The entries, newest first.' })
  data!: AuditLogEntryResponse[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Send this value as `cursor` to get the next page; null on the last page.',
    example: EXAMPLE_CURSOR,
  })
  next_cursor!: string | null;

  @ApiProperty({ type: 'integer', description: 'Maximum number of entries in a page.', example: 100 })
  limit!: number;
}

export const EXAMPLE_PAGE = {
  data: [
    {
      id: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
      datetime: '2026-01-31T08:15:30.123Z',
      event: { action: 'secret.view', outcome: { status: 'success' } },
      actor: { name: 'Ada Lovelace', email: 'ada@example.com' },
      target: { type: 'secret', name: null, environment: 'production' },
      context: {
        ip: '203.0.113.7',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
      },
    },
  ],
  next_cursor: EXAMPLE_CURSOR,
  limit: 100,
};
