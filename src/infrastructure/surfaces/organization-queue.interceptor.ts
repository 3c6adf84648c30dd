import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { dashboardActorOf } from '../auth/index.js';
import { KeyedQueue } from '../queues/index.js';
import { SERVICE_UNAVAILABLE } from '../errors/index.js';

/** Half of the connections that a process has by default. */
const CONCURRENT_REQUESTS = 5;

const OUTSIDE_QUEUE = 'outside of the organization queue';

/** Exempts a route from the queue: one that waits for something other than locks of its organization. */
export const OutsideOrganizationQueue = (): MethodDecorator => SetMetadata(OUTSIDE_QUEUE, true);

/**
 * Limits the concurrent changes of an organization in the dashboard. They wait for each other's locks, for example on the
 * organization's audit log; waiting, they must not occupy all connections to the database. Guards have read the body before,
 * so a slow client does not hold a place.
 */
@Injectable()
export class OrganizationQueue implements NestInterceptor {
  private static readonly queue = new KeyedQueue(CONCURRENT_REQUESTS);

  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const isExempt = this.reflector.get<true | undefined>(OUTSIDE_QUEUE, context.getHandler());
    if (isExempt || /^(?:GET|HEAD)$/.test(request.method)) return next.handle();
    const { organizationId } = dashboardActorOf(request);
    const handle = async (): Promise<unknown> => {
      // The client has disconnected while the request waited.
      if (request.socket.destroyed) throw SERVICE_UNAVAILABLE.error();
      return lastValueFrom(next.handle(), { defaultValue: undefined });
    };
    return from(OrganizationQueue.queue.run(organizationId, handle));
  }
}
