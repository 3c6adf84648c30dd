import { Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import {
  CurrentActor,
  INVALID_ENVIRONMENT_MESSAGE,
  type DashboardActor,
} from '../../infrastructure/auth/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import {
  NOT_PUBLIC,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
  WEBHOOK_ENDPOINT_LIMIT_REACHED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
} from './webhook-endpoint-errors.js';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH, MAX_ENDPOINTS } from './webhook-endpoint-limits.js';
import {
  CreateWebhookEndpointRequest,
  EXAMPLE_ENDPOINT,
  UpdateWebhookEndpointRequest,
  WebhookEndpointResponse,
  WebhookEndpointsQuery,
} from './webhook-endpoints.dto.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

const ID = { id: { description: 'The endpoint’s `id`.', example: EXAMPLE_ENDPOINT.id } };
const WRONG_ENVIRONMENT = ['The environment field is required.', INVALID_ENVIRONMENT_MESSAGE];
const WRONG_FIELDS = [
  NOT_PUBLIC,
  `The url field must not be greater than ${MAX_URL_LENGTH} characters.`,
  `The description field must not be greater than ${MAX_DESCRIPTION_LENGTH} characters.`,
];
const TWO_WAYS =
  'For every user, by access token or login. A login works for both environments, an access token for that of the ' +
  'client which it was issued for';
const OF_THE_TOKEN = `${TWO_WAYS}: an endpoint of the other one is answered 403 \`ENVIRONMENT_MISMATCH\`.`;

@Topic('Webhook endpoints', 'Where events are sent; tests, and events sent again.')
@Controller()
export class WebhookEndpointsController {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  @Get('webhook-endpoints')
  @DashboardOperation({
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    description:
      'The webhook endpoints of an environment, in the order in which they were created; there are at most ' +
      `${MAX_ENDPOINTS}. Use it to see where events go, and to find the ids that other calls take. ${TWO_WAYS}.`,
    permission: { token: 'webhook_endpoints:read' },
    response: [WebhookEndpointResponse],
    responseDescription: 'All endpoints of the environment.',
    responseExample: [EXAMPLE_ENDPOINT],
    errors: [withMessages(INVALID_FIELD, ...WRONG_ENVIRONMENT), ENVIRONMENT_MISMATCH],
  })
  list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: WebhookEndpointsQuery,
  ): Promise<WebhookEndpointResponse[]> {
    return this.endpoints.list(actor, query.environment);
  }

  @Get('webhook-endpoints/:id')
  @DashboardOperation({
    operationId: 'getWebhookEndpoint',
    summary: 'Get a webhook endpoint',
    description: `One endpoint. Call it when you have kept its id. ${OF_THE_TOKEN}`,
    permission: { token: 'webhook_endpoints:read' },
    pathParameters: ID,
    response: WebhookEndpointResponse,
    responseDescription: 'The endpoint.',
    responseExample: EXAMPLE_ENDPOINT,
    errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
  })
  get(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<WebhookEndpointResponse> {
    return this.endpoints.get(actor, id);
  }

  @Post('webhook-endpoints/create')
  @DashboardOperation({
    operationId: 'createWebhookEndpoint',
    summary: 'Create webhook endpoint',
    description:
      'From now on the events of the environment are sent to this URL too. Call it when a receiver is ready ' +
      'to answer. An environment has at most ' +
      `${MAX_ENDPOINTS} endpoints, each URL once. ${TWO_WAYS}. Audited as \`webhook.create\`.`,
    permission: { token: 'webhook_endpoints:write', action: auditAction('webhook.create') },
    body: CreateWebhookEndpointRequest,
    response: WebhookEndpointResponse,
    responseDescription: 'The endpoint was created.',
    responseExample: EXAMPLE_ENDPOINT,
    errors: [
      withMessages(INVALID_FIELD, ...WRONG_ENVIRONMENT, 'The url field is required.', ...WRONG_FIELDS),
      ENVIRONMENT_MISMATCH,
      WEBHOOK_ENDPOINT_ALREADY_EXISTS,
      WEBHOOK_ENDPOINT_LIMIT_REACHED,
    ],
  })
  create(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: CreateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    return this.endpoints.create(actor, request);
  }

  @Patch('webhook-endpoints/:id')
  @DashboardOperation({
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'Changes the URL or the description; fields that are absent stay as they are, and so does the URL ' +
      'where it is ' +
      `\`null\`. Use it when your receiver moves. What is sent from then on goes to the new URL. ` +
      `${OF_THE_TOKEN} Audited as \`webhook.update\` when ` +
      'something changed.',
    permission: { token: 'webhook_endpoints:write', action: auditAction('webhook.update') },
    pathParameters: ID,
    body: UpdateWebhookEndpointRequest,
    response: WebhookEndpointResponse,
    responseDescription: 'The endpoint as it is now.',
    responseExample: EXAMPLE_ENDPOINT,
    errors: [
      withMessages(INVALID_FIELD, ...WRONG_FIELDS),
      ENVIRONMENT_MISMATCH,
      WEBHOOK_ENDPOINT_NOT_FOUND,
      WEBHOOK_ENDPOINT_ALREADY_EXISTS,
    ],
  })
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: UpdateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    return this.endpoints.update(actor, id, request);
  }

  @Delete('webhook-endpoints/:id')
  @DashboardOperation({
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description:
      'Nothing is sent to it any more; deliveries that wait are dropped. Use it when nobody listens there ' +
      `any more. ${OF_THE_TOKEN} Audited as \`webhook.delete\`.`,
    permission: { token: 'webhook_endpoints:write', action: auditAction('webhook.delete') },
    pathParameters: ID,
    response: WebhookEndpointResponse,
    responseDescription: 'What was deleted.',
    responseExample: EXAMPLE_ENDPOINT,
    errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
  })
  delete(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<WebhookEndpointResponse> {
    return this.endpoints.delete(actor, id);
  }
}
