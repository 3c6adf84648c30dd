import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation, OutsideOrganizationQueue } from '../../../infrastructure/surfaces/index.js';
import {
  QueuedDeliveriesResponse,
  RecoverRequest,
  RecoveryResponse,
  RedeliverRequest,
  TestedWebhookEndpointResponse,
  TestWebhookEndpointRequest,
  TEST_ENDPOINT,
  REDELIVER_EVENT,
  RECOVER_EVENTS,
  GET_RECOVERY,
} from '../deliveries.dto.js';
import { DeliveriesService } from './deliveries.service.js';
import { RedeliveriesService } from '../resends/redeliveries.service.js';
import { ResendsService } from '../resends/resends.service.js';
import { REQUEST_LOG_PERMISSIONS } from '../../request-logs/index.js';
import { DELIVERY_PERMISSIONS } from '../webhooks.capability.js';

@Topic('Webhook endpoints')
@Controller('webhook-endpoints/:id')
export class DeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly resends: ResendsService,
    private readonly redeliveries: RedeliveriesService,
  ) {}

  @Post('test')
  @DashboardOperation(TEST_ENDPOINT, DELIVERY_PERMISSIONS.testWebhookEndpoint)
  @OutsideOrganizationQueue()
  test(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: TestWebhookEndpointRequest,
  ): Promise<TestedWebhookEndpointResponse> {
    return this.deliveries.test(actor, id, request.event);
  }

  @Post('redeliver')
  @DashboardOperation(REDELIVER_EVENT, REQUEST_LOG_PERMISSIONS.redeliverWebhook)
  redeliver(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: RedeliverRequest,
  ): Promise<QueuedDeliveriesResponse> {
    return this.redeliveries.redeliver(actor, id, request.event_id);
  }

  @Post('recover')
  @DashboardOperation(RECOVER_EVENTS, DELIVERY_PERMISSIONS.recoverWebhooks)
  recover(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: RecoverRequest,
  ): Promise<RecoveryResponse> {
    return this.resends.recover(actor, id, new Date(request.since));
  }

  @Get('recover')
  @DashboardOperation(GET_RECOVERY, DELIVERY_PERMISSIONS.getWebhookRecovery)
  recovery(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<RecoveryResponse> {
    return this.resends.lastRecovery(actor, id);
  }
}
