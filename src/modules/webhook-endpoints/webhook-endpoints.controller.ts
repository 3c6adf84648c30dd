import {
  Body,
  Controller,
  Delete,
  Get,
  Param,
  Patch,
  Post,
  Query,
  UseInterceptors,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { CurrentActor, dashboardActorOf, type DashboardActor } from '../../infrastructure/auth/index.js';
import {
  Idempotent,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import {
  CreateWebhookEndpointRequest,
  RotateWebhookEndpointKeyRequest,
  UpdateWebhookEndpointRequest,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
  WebhookEndpointsQuery,
  LIST_ENDPOINTS,
  GET_ENDPOINT,
  CREATE_ENDPOINT,
  UPDATE_ENDPOINT,
  ROTATE_KEY,
  DELETE_ENDPOINT,
} from './webhook-endpoints.dto.js';
import { EndpointSigningService } from './endpoint-signing.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { ENDPOINT_PERMISSIONS } from './webhook-endpoints.capability.js';

/**
 * Requires access to the endpoint in the path. Nest runs interceptors before it reads and validates the body, so a user
 * without access gets 404 or 403 whatever the body contains (specification, "Order of checks").
 */
@Injectable()
class EndpointAccessInterceptor implements NestInterceptor {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    await this.endpoints.require(dashboardActorOf(request), String(request.params['id']));
    return next.handle();
  }
}

@Topic('Webhook endpoints', 'URLs that events are sent to, tests and redeliveries.')
@Controller()
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly signing: EndpointSigningService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  @Get('webhook-endpoints')
  @DashboardOperation(LIST_ENDPOINTS, ENDPOINT_PERMISSIONS.listWebhookEndpoints)
  list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: WebhookEndpointsQuery,
  ): Promise<WebhookEndpointListResponse> {
    return this.endpoints.list(actor, query.environment);
  }

  @Get('webhook-endpoints/:id')
  @DashboardOperation(GET_ENDPOINT, ENDPOINT_PERMISSIONS.getWebhookEndpoint)
  get(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<WebhookEndpointResponse> {
    return this.endpoints.get(actor, id);
  }

  @Post('webhook-endpoints/create')
  @DashboardOperation(CREATE_ENDPOINT, ENDPOINT_PERMISSIONS.createWebhookEndpoint)
  create(
    @CurrentActor() actor: DashboardActor,
    @Body() request: CreateWebhookEndpointRequest,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<WebhookEndpointResponse> {
    return this.idempotentRequests.once(idempotent, () => this.endpoints.create(actor, request));
  }

  @Patch('webhook-endpoints/:id')
  @UseInterceptors(EndpointAccessInterceptor)
  @DashboardOperation(UPDATE_ENDPOINT, ENDPOINT_PERMISSIONS.updateWebhookEndpoint)
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: UpdateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    return this.endpoints.update(actor, id, request);
  }

  @Post('webhook-endpoints/:id/rotate-key')
  @UseInterceptors(EndpointAccessInterceptor)
  @DashboardOperation(ROTATE_KEY, ENDPOINT_PERMISSIONS.rotateWebhookEndpointKey)
  rotateKey(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: RotateWebhookEndpointKeyRequest,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<WebhookEndpointResponse> {
    return this.idempotentRequests.once(idempotent, () => this.signing.rotateKey(actor, id, request));
  }

  @Delete('webhook-endpoints/:id')
  @DashboardOperation(DELETE_ENDPOINT, ENDPOINT_PERMISSIONS.deleteWebhookEndpoint)
  delete(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<WebhookEndpointResponse> {
    return this.endpoints.delete(actor, id);
  }
}
