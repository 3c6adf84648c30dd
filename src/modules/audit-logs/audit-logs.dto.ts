import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { ENVIRONMENT_MISMATCH } from '../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { CursorField, PageOf, PageSizeField } from '../../infrastructure/paging/index.js';
import {
  Constraint,
  EnumField,
  siblingOf,
  TextField,
  TimestampField,
} from '../../infrastructure/validation/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import type { AuditOutcome } from './audit-outcome.js';
import { AUDIT_ACTION, AUDIT_OUTCOME, AuditLogEntryResponse } from './audit-log-entry.entity.js';

const PAGE_SIZE = 100;
const MAX_ACTOR_LENGTH = 254;
const MAX_TARGET_LENGTH = 2_048;
const EXAMPLE = { example: 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywiNDIiXQ' };

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

  @PageSizeField(undefined, { max: PAGE_SIZE, default: PAGE_SIZE })
  limit: number = PAGE_SIZE;

  @CursorField('The `next_cursor` of the previous page. Send the same `start` and `end` again.', EXAMPLE)
  cursor?: string;

  @CursorField('Another name for `cursor`.', EXAMPLE, IsSameAsCursor())
  next_cursor?: string;
}

/** The filters of the dashboard, which operation 4 of the specification does not have. */
export class SearchAuditLogsQuery extends ListAuditLogsQuery {
  /** A part of the name or email address. */
  @TextField({ in: 'form', required: false, max: MAX_ACTOR_LENGTH })
  actor?: string;

  /** A part of the name of what the action was about. */
  @TextField({ in: 'form', required: false, max: MAX_TARGET_LENGTH })
  target?: string;

  @EnumField(AUDIT_ACTION, { in: 'form', required: false })
  action?: AuditAction;

  @EnumField(AUDIT_OUTCOME, { in: 'form', required: false })
  outcome?: AuditOutcome;
}

export class AuditLogListResponse extends PageOf(AuditLogEntryResponse, 'The entries, newest first.', {
  ...EXAMPLE,
  size: PAGE_SIZE,
}) {}

export const PRODUCTION_ONLY = 'Audit logs belong to the production environment: use production credentials.';

export const LIST_AUDIT_LOGS: OperationDocument = {
  operationId: 'listAuditLogs',
  place: 5,
  summary: 'Get audit logs',
  description:
    'Returns what the users of your organization did, and tried to do, in the dashboard. The log covers both ' +
    `environments, newest entries first. Entries are never changed or deleted. ` +
    'Requires production credentials.\n\nTo get the following pages, send the `next_cursor` of each page until it is ' +
    'null. Entries added in the meantime do not shift the pages.\n\n' +
    '[Audit actions](/docs/audit-actions) explains each action.',
  response: AuditLogListResponse,
  responseDescription: 'A page of the audit log.',
  errors: [INVALID_CURSOR_FORMAT, withMessages(ENVIRONMENT_MISMATCH, PRODUCTION_ONLY)],
};
