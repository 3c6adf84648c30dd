import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import {
  GET_REQUEST_LOG,
  LIST_REQUEST_LOGS,
  ListRequestLogsQuery,
  RequestLogListResponse,
  SingleRequestLogEntryResponse,
} from '../request-logs.dto.js';
import { RequestLogsService } from './request-logs.service.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs.capability.js';

@Topic('Request logs', 'Requests of your programs and responses of your endpoints.')
@Controller()
export class RequestLogsController {
  constructor(private readonly requestLogs: RequestLogsService) {}

  @Get('request-logs')
  @DashboardOperation(LIST_REQUEST_LOGS, REQUEST_LOG_PERMISSIONS.listRequestLogs)
  list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: ListRequestLogsQuery,
  ): Promise<RequestLogListResponse> {
    return this.requestLogs.page(actor, query);
  }

  @Get('request-logs/:id')
  @DashboardOperation(GET_REQUEST_LOG, REQUEST_LOG_PERMISSIONS.getRequestLog)
  get(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SingleRequestLogEntryResponse> {
    return this.requestLogs.get(actor, id);
  }
}
