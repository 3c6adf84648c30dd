import { Controller, Get, Param, Query } from '@nestjs/common';
import {
  CurrentActor,
  INVALID_ENVIRONMENT_MESSAGE,
  type DashboardActor,
} from '../../../infrastructure/auth/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/paging/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { REQUEST_LOG_NOT_FOUND, REQUEST_LOG_QUERY_TIMEOUT } from '../request-log-errors.js';
import {
  EXAMPLE_ENTRY,
  EXAMPLE_PAGE,
  ListRequestLogsQuery,
  RequestLogListResponse,
  SingleRequestLogEntryResponse,
} from './request-logs.dto.js';
import { RequestLogsService } from './request-logs.service.js';

const TWO_WAYS =
  'For every user, by access token or login. A login works for both environments, an access token for that of the ' +
  'client which it was issued for.';

@Topic('Request logs', 'What your programs sent, and what your endpoints answered.')
@Controller()
export class RequestLogsController {
  constructor(private readonly requestLogs: RequestLogsService) {}

  @Get('request-logs')
  @DashboardOperation({
    operationId: 'listRequestLogs',
    summary: 'List request logs',
    description:
      'The API calls of an environment and the attempts to deliver webhooks, as one list, newest first. Use it to ' +
      'see what your program sent and what your endpoints answered. All filters that are given must match; `event` ' +
      'with `type=request` matches nothing. Bodies, credentials and headers are not kept.\n\nGo on with the ' +
      '`next_cursor` of each page until it is null. Entries that are added meanwhile shift no page, and none is ' +
      'listed twice. A busy moment may still be on its way into the list for a second or so: to get everything, as ' +
      `for an archive, ask for a period that ended a minute ago.\n\n${TWO_WAYS}`,
    permission: { token: 'request_logs:read' },
    response: RequestLogListResponse,
    responseDescription: 'A page of the request log.',
    responseExample: EXAMPLE_PAGE,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The environment field is required.',
        INVALID_ENVIRONMENT_MESSAGE,
        'The start field must be at most 7 days before the end field.',
        'The start field must not be after the end field.',
        'The session id field must be a UUID.',
        'The status code field must be at least 100.',
        'The limit field must not be greater than 50.',
        'The query parameter page is not known.',
      ),
      INVALID_CURSOR_FORMAT,
      ENVIRONMENT_MISMATCH,
      REQUEST_LOG_QUERY_TIMEOUT,
    ],
  })
  list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: ListRequestLogsQuery,
  ): Promise<RequestLogListResponse> {
    return this.requestLogs.page(actor, query);
  }

  @Get('request-logs/:id')
  @DashboardOperation({
    operationId: 'getRequestLog',
    summary: 'Get a request log entry',
    description:
      'One entry; of an attempt to deliver a webhook also which attempt it was, why it failed and where the time ' +
      `went. Use it to find out why a delivery failed. ${TWO_WAYS} Entries of the other environment are not found.`,
    permission: { token: 'request_logs:read' },
    pathParameters: { id: { description: 'The entry’s `id`.', example: String(EXAMPLE_ENTRY.id) } },
    response: SingleRequestLogEntryResponse,
    responseDescription: 'The entry.',
    responseExample: EXAMPLE_ENTRY,
    errors: [REQUEST_LOG_NOT_FOUND, REQUEST_LOG_QUERY_TIMEOUT],
  })
  get(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SingleRequestLogEntryResponse> {
    return this.requestLogs.get(actor, id);
  }
}
