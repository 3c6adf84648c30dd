import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Field,
  isMissing,
  isNotBefore,
  TimeBound,
  type Rule,
} from '../../infrastructure/validation/index.js';
import {
  AUDIT_ACTION_NAMES,
  AUDIT_OUTCOMES,
  AUDIT_TARGET_TYPES,
  type AuditAction,
  type AuditOutcome,
} from './audit-actions.js';

const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ';

const isSameAsCursor: Rule = (value, { object: { cursor } }) =>
  isMissing(cursor) || value === cursor
    ? undefined
    : 'The cursor and next cursor fields are two names of one: they must not differ.';

/** Whatever it is, it is looked at as a cursor: one that is none has an error of its own. */
function Cursor(description: string, rules: readonly Rule[] = []): PropertyDecorator {
  return Field({
    in: 'query',
    required: false,
    rules,
    document: { type: String, description, example: EXAMPLE_CURSOR },
  });
}

export class ListAuditLogsQuery {
  @TimeBound('Only entries created at this time or later.', '2026-01-01T00:00:00Z')
  start?: string;

  @TimeBound('Only entries created at this time or earlier.', '2026-01-31T23:59:59Z', [isNotBefore('start')])
  end?: string;

  @Cursor('The `next_cursor` of the previous page. Send the same `start` and `end` again.')
  cursor?: string;

  @Cursor('Another name of `cursor`.', [isSameAsCursor])
  next_cursor?: string;
}

@ApiSchema({ description: 'How it ended.' })
export class AuditOutcomeResponse {
  @ApiProperty({
    enum: AUDIT_OUTCOMES,
    description:
      '`denied`: the user may not do it. `failure`: it was tried and did not succeed, as with a wrong password.',
    example: 'success',
  })
  status!: AuditOutcome;
}

@ApiSchema({ description: 'What happened.' })
export class AuditEventResponse {
  @ApiProperty({
    enum: AUDIT_ACTION_NAMES,
    enumName: 'AuditAction',
    description: 'What was done. More actions may be added.',
    example: 'secret.view',
  })
  action!: AuditAction;

  @ApiProperty({ type: AuditOutcomeResponse, description: 'How it went.' })
  outcome!: AuditOutcomeResponse;
}

@ApiSchema({ description: 'The dashboard user who did it.' })
export class AuditActorResponse {
  @ApiProperty({ type: String, description: 'Name of the user at the time.', example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({
    type: String,
    description: 'E-mail address of the user at the time.',
    example: 'ada@example.com',
  })
  email!: string;
}

@ApiSchema({ description: 'What it was done to.' })
export class AuditTargetResponse {
  @ApiProperty({
    type: String,
    description: `The kind of thing acted on: ${AUDIT_TARGET_TYPES.map((type) => `\`${type}\``).join(', ')}. More may be added.`,
    example: 'secret',
  })
  type!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The thing acted on, by its name at the time; null where it has none.',
    example: null,
  })
  name!: string | null;

  @ApiProperty({
    enum: ENVIRONMENTS,
    description:
      'The environment that the thing belongs to. What belongs to the whole organization, such as users and ' +
      'domains, counts as `production`.',
    example: 'production',
  })
  environment!: PlatformEnvironment;
}

@ApiSchema({ description: 'Where the user was.' })
export class AuditContextResponse {
  @ApiProperty({ type: String, description: 'The address that the user came from.', example: '203.0.113.7' })
  ip!: string;

  @ApiProperty({
    type: String,
    description: 'What the user’s browser or program calls itself; its first 512 characters.',
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  })
  user_agent!: string;
}

export class AuditLogEntryResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the entry.',
    example: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it happened.',
    example: '2026-01-31T08:15:30.123Z',
  })
  datetime!: Date;

  @ApiProperty({ type: AuditEventResponse, description: 'What happened.' })
  event!: AuditEventResponse;

  @ApiProperty({ type: AuditActorResponse, description: 'The dashboard user who did it.' })
  actor!: AuditActorResponse;

  @ApiProperty({ type: AuditTargetResponse, description: 'What it was done to.' })
  target!: AuditTargetResponse;

  @ApiProperty({ type: AuditContextResponse, description: 'Where the user was.' })
  context!: AuditContextResponse;
}

export class AuditLogListResponse {
  @ApiProperty({ type: [AuditLogEntryResponse], description: 'The entries, newest first.' })
  data!: AuditLogEntryResponse[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Send it as `cursor` to get the next page; null on the last one.',
    example: EXAMPLE_CURSOR,
  })
  next_cursor!: string | null;

  @ApiProperty({ type: 'integer', description: 'The most entries that a page has.', example: 100 })
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
