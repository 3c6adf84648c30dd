import { Controller, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { JsonBody } from '../../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { WEBHOOK_ENDPOINT_NOT_FOUND } from '../../webhook-endpoints/index.js';
import {
  EXAMPLE_TEST,
  QueuedDeliveriesResponse,
  RecoverRequest,
  RedeliverRequest,
  TestedWebhookEndpointResponse,
  TestWebhookEndpointRequest,
} from './deliveries.dto.js';
import { DeliveriesService, UNKNOWN_EVENT } from './deliveries.service.js';

const ID = { id: { description: 'The endpoint’s `id`.', example: '6f9f3c1e-0d5b-4c9a-8a37-0f3f7a1e2b4c' } };
const PERMISSION = { token: 'webhook_endpoints:write' } as const;

@Topic('Webhook endpoints')
@Controller('webhook-endpoints/:id')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('test')
  @DashboardOperation({
    operationId: 'testWebhookEndpoint',
    summary: 'Test a webhook endpoint',
    description:
      'Sends an example event to the endpoint, signed and sent as every event is, and tells what came of ' +
      'it. Use it when you have set up an endpoint, and when deliveries fail. It is sent once, whatever the ' +
      'answer, and stands in the request log. Takes up to 10 seconds.',
    permission: PERMISSION,
    pathParameters: ID,
    body: TestWebhookEndpointRequest,
    response: TestedWebhookEndpointResponse,
    responseDescription: 'The event was sent; whether it counts as received, the answer tells.',
    responseExample: EXAMPLE_TEST,
    errors: [
      withMessages(INVALID_FIELD, 'The selected event is invalid.'),
      ENVIRONMENT_MISMATCH,
      WEBHOOK_ENDPOINT_NOT_FOUND,
    ],
  })
  test(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: TestWebhookEndpointRequest,
  ): Promise<TestedWebhookEndpointResponse> {
    return this.deliveries.test(actor, id, request.event);
  }

  @Post('redeliver')
  @DashboardOperation({
    operationId: 'redeliverWebhook',
    summary: 'Send an event again',
    description:
      'Sends an event to the endpoint once more, with retries, whether it was received or not. Use it when ' +
      'your receiver lost an event. Events are kept as long as the request log. It goes to the URL that the ' +
      'endpoint has now.',
    permission: PERMISSION,
    pathParameters: ID,
    body: RedeliverRequest,
    response: QueuedDeliveriesResponse,
    responseDescription: 'The delivery is in the queue.',
    responseExample: { queued: 1 },
    errors: [
      withMessages(INVALID_FIELD, 'The event id field is required.', UNKNOWN_EVENT),
      ENVIRONMENT_MISMATCH,
      WEBHOOK_ENDPOINT_NOT_FOUND,
    ],
  })
  redeliver(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: RedeliverRequest,
  ): Promise<QueuedDeliveriesResponse> {
    return this.deliveries.redeliver(actor, id, request.event_id);
  }

  @Post('recover')
  @DashboardOperation({
    operationId: 'recoverWebhooks',
    summary: 'Send all failed events again',
    description:
      'Sends every event again that the endpoint has not received since a time, after an outage of yours. ' +
      'Events that are still being tried are left out, so calling it again does no harm.',
    permission: PERMISSION,
    pathParameters: ID,
    body: RecoverRequest,
    response: QueuedDeliveriesResponse,
    responseDescription: 'The deliveries are in the queue.',
    responseExample: { queued: 118 },
    errors: [
      withMessages(INVALID_FIELD, 'The since field is required.'),
      ENVIRONMENT_MISMATCH,
      WEBHOOK_ENDPOINT_NOT_FOUND,
    ],
  })
  recover(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: RecoverRequest,
  ): Promise<QueuedDeliveriesResponse> {
    return this.deliveries.recover(actor, id, new Date(request.since));
  }
}
