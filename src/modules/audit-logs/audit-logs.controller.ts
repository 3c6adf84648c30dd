import { Controller, Get, Query } from '@nestjs/common';
import {
  CurrentClient,
  EnvironmentGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/paging/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { AUDIT_ACTIONS } from './audit-actions.js';
import { AuditLogListResponse, EXAMPLE_PAGE, ListAuditLogsQuery } from './audit-logs.dto.js';
import { AuditLogsService } from './audit-logs.service.js';

const PRODUCTION_ONLY = 'Audit logs belong to the production environment: use production credentials.';

const ACTION_ROWS = Object.entries(AUDIT_ACTIONS).map(
  ([action, { target, meaning }]) => `| \`${action}\` | \`${target}\` | ${meaning} |`,
);

@Topic('Audit log', 'What people did in the dashboard.')
@Controller()
export class AuditLogsController {
  constructor(private readonly auditLogs: AuditLogsService) {}

  @Get('audit_logs')
  @PlatformOperation({
    operationId: 'listAuditLogs',
    summary: 'Get audit logs',
    description:
      'What the people of your organization did in the dashboard, and what they tried to do, in both ' +
      'environments; newest first, 100 entries a page. Entries are never changed or deleted. Takes production ' +
      'credentials only.\n\nGo on with the `next_cursor` of each page until it is null; entries that are added ' +
      'meanwhile shift no page.\n\n| action | target | meaning |\n| --- | --- | --- |\n' +
      ACTION_ROWS.join('\n'),
    response: AuditLogListResponse,
    responseDescription: 'A page of the audit log.',
    responseExample: EXAMPLE_PAGE,
    guards: [EnvironmentGuard('production', ENVIRONMENT_MISMATCH, PRODUCTION_ONLY)],
    errors: [
      withMessages(
        INVALID_FIELD,
        'The start field must be a date and time such as 2026-01-31T08:15:30Z.',
        'The start field must not be after the end field.',
        'The query parameter limit is not known.',
      ),
      INVALID_CURSOR_FORMAT,
      withMessages(ENVIRONMENT_MISMATCH, PRODUCTION_ONLY),
    ],
  })
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListAuditLogsQuery,
  ): Promise<AuditLogListResponse> {
    return this.auditLogs.page(client.organizationId, query);
  }
}
