import { ApiSchema } from '@nestjs/swagger';
import {
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  Constraint,
  EnumField,
  ENVIRONMENT,
  Field,
  siblingOf,
  TextField,
  TimestampField,
} from '../../infrastructure/validation/index.js';
import {
  AUDIT_ACTION_NAMES,
  AUDIT_OUTCOMES,
  AUDIT_TARGET_TYPES,
  type AuditAction,
  type AuditOutcome,
} from './audit-actions.js';

const AUDIT_ACTION = enumeration(
  'AuditAction',
  AUDIT_ACTION_NAMES,
  'An action that the audit log records. More actions may be added.',
);
const AUDIT_OUTCOME = enumeration('AuditOutcome', AUDIT_OUTCOMES, 'How an action ended.');

export const PAGE_SIZE = 100;
const MAX_ACTOR_LENGTH = 254;
const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ';

/** Accepts any text, because the service rejects invalid cursors with a separate error code. */
function CursorField(description: string, ...validators: PropertyDecorator[]): PropertyDecorator {
  const schema = { type: String };
  return Field({ in: 'query', required: false, schema, description, example: EXAMPLE_CURSOR }, ...validators);
}

function IsSameAsCursor(): PropertyDecorator {
  return Constraint(
    'isSameAsCursor',
    (value, context) => {
      const cursor = siblingOf(context, 'cursor');
      return cursor === undefined || value === cursor;
    },
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

/** The filters of the dashboard, which operation 4 of the specification does not have. */
export class SearchAuditLogsQuery extends ListAuditLogsQuery {
  @TextField({
    in: 'query',
    required: false,
    min: 0,
    max: MAX_ACTOR_LENGTH,
    description: 'Only entries of users whose name or email address contains this text.',
    example: 'ada@example.com',
  })
  actor?: string;

  @EnumField(AUDIT_ACTION, {
    in: 'query',
    required: false,
    description: 'Only entries of this action.',
    example: 'user.add',
  })
  action?: AuditAction;

  @EnumField(AUDIT_OUTCOME, {
    in: 'query',
    required: false,
    description: 'Only entries with this outcome.',
    example: 'denied',
  })
  outcome?: AuditOutcome;
}

@ApiSchema({ description: 'The outcome of the action.' })
export class AuditOutcomeResponse {
  @EnumProperty(
    AUDIT_OUTCOME,
    '`denied`: the user is not allowed to do this, or made too many attempts: one entry stands for all such attempts ' +
      'of an hour. `failure`: the attempt did not succeed, for example because of a wrong password.',
    'success',
  )
  status!: AuditOutcome;
}

@ApiSchema({ description: 'The action and its outcome.' })
export class AuditEventResponse {
  @EnumProperty(AUDIT_ACTION, 'The action. More actions may be added.', 'secret.view')
  action!: AuditAction;

  @ObjectProperty(AuditOutcomeResponse, 'The outcome of the action.')
  outcome!: AuditOutcomeResponse;
}

@ApiSchema({ description: 'The dashboard user or operator who performed the action.' })
export class AuditActorResponse {
  @TextProperty('Name of the user at the time. `operator` for an operator of the platform.', 'Ada Lovelace')
  name!: string;

  @TextProperty(
    'Email address of the user at the time. `operator` for an operator of the platform.',
    'ada@example.com',
  )
  email!: string;
}

@ApiSchema({ description: 'The target of the action.' })
export class AuditTargetResponse {
  @TextProperty(
    `The kind of target: ${AUDIT_TARGET_TYPES.map((type) => `\`${type}\``).join(', ')}. More may be added.`,
    'secret',
  )
  type!: string;

  @TextProperty(
    'Name of the target at the time; its ID if the action was denied; null if it has no name.',
    null,
    { nullable: true },
  )
  name!: string | null;

  @EnumProperty(
    ENVIRONMENT,
    'The environment of the target. Targets that belong to the whole organization, such as users and domains, ' +
      'count as `production`.',
    'production',
  )
  environment!: PlatformEnvironment;
}

@ApiSchema({ description: 'Where the user performed the action.' })
export class AuditContextResponse {
  @TextProperty('IP address of the user. Empty for an operator of the platform.', '203.0.113.7')
  ip!: string;

  @TextProperty(
    'First 512 characters of the `User-Agent` header of the user’s browser or program.',
    'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  )
  user_agent!: string;
}

export class AuditLogEntryResponse {
  @UuidProperty('ID of the entry.', '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11')
  id!: string;

  @TimestampProperty('When the action happened.')
  datetime!: Date;

  @ObjectProperty(AuditEventResponse, 'The action and its outcome.')
  event!: AuditEventResponse;

  @ObjectProperty(AuditActorResponse, 'The dashboard user or operator who performed the action.')
  actor!: AuditActorResponse;

  @ObjectProperty(AuditTargetResponse, 'The target of the action.')
  target!: AuditTargetResponse;

  @ObjectProperty(AuditContextResponse, 'Where the user performed the action.')
  context!: AuditContextResponse;
}

export class AuditLogListResponse {
  @ObjectProperty([AuditLogEntryResponse], 'The entries, newest first.')
  data!: AuditLogEntryResponse[];

  @TextProperty('Send this value as `cursor` to get the next page; null on the last page.', EXAMPLE_CURSOR, {
    nullable: true,
  })
  next_cursor!: string | null;

  @IntegerProperty('Maximum number of entries in a page.', PAGE_SIZE)
  limit!: number;
}
