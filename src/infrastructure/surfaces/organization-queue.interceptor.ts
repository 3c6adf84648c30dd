import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { dashboardActorOf } from '../auth/index.js';
import { KeyedQueue } from '../database/index.js';

/** Half of the connections that a process has by default. */
const CONCURRENT_REQUESTS = 5;

/**
 * Limits the concurrent changes of an organization in the dashboard. They wait for each other's locks, for example on the
 * organization's audit log; waiting, they must not occupy all connections to the database.
 */
@Injectable()
export class OrganizationQueue implements NestInterceptor {
  private static readonly queue = new KeyedQueue(CONCURRENT_REQUESTS);

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    if (/^(?:GET|HEAD)$/.test(request.method)) return next.handle();
    const { organizationId } = dashboardActorOf(request);
    const handle = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    return from(OrganizationQueue.queue.run(organizationId, handle));
  }
}
