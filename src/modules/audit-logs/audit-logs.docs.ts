import { ENVIRONMENT_MISMATCH } from '../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { AuditLogListResponse, PAGE_SIZE } from './audit-logs.dto.js';

export const PRODUCTION_ONLY = 'Audit logs belong to the production environment: use production credentials.';

export const LIST_AUDIT_LOGS: OperationDocument = {
  operationId: 'listAuditLogs',
  summary: 'Get audit logs',
  description:
    'Returns what the users of your organization did, and tried to do, in the dashboard. The log covers both ' +
    `environments, newest entries first, ${PAGE_SIZE} per page. Entries are never changed or deleted. ` +
    'Requires production credentials.\n\nTo get the following pages, send the `next_cursor` of each page until it is ' +
    'null. Entries added in the meantime do not shift the pages.\n\n' +
    '[Audit actions](/docs/audit-actions) explains each action.',
  response: AuditLogListResponse,
  responseDescription: 'A page of the audit log.',
  errors: [INVALID_CURSOR_FORMAT, withMessages(ENVIRONMENT_MISMATCH, PRODUCTION_ONLY)],
};
