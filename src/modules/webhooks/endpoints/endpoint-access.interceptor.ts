import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { dashboardActorOf } from '../../../infrastructure/auth/index.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/**
 * Requires access to the endpoint in the path. Nest runs interceptors before it reads and validates the body, so a user
 * without access gets 404 or 403 whatever the body contains (specification, "Order of checks").
 */
@Injectable()
export class EndpointAccessInterceptor implements NestInterceptor {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    await this.endpoints.require(dashboardActorOf(request), String(request.params['id']));
    return next.handle();
  }
}
