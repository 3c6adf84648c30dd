import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { changesBetween } from '../../audit-logs/index.js';
import { RequestLogsConfiguration } from '../../request-logs/index.js';
import { WEBHOOK_ENDPOINT_NOT_FOUND, WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import type { RecoveryResponse } from '../deliveries/deliveries.dto.js';
import { RecoveriesRepository, type Recovery } from './recoveries.repository.js';

export const RESEND_RUNNING =
  'Selected deliveries to this endpoint are being sent again. Try again when that has finished.';

/** Accepts recoveries and reports their progress. `RecoveriesJob` runs them. */
@Injectable()
export class RecoveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly repository: RecoveriesRepository,
    private readonly configuration: RequestLogsConfiguration,
    private readonly clock: Clock,
  ) {}

  @Transactional()
  async request(actor: DashboardActor, id: string, since: Date): Promise<RecoveryResponse> {
    const endpoint = await this.endpoints.requireActive(actor, id);
    const now = this.clock.now();
    const oldest = now.getTime() - this.configuration.retentionDays * DAY;
    const start = new Date(Math.max(since.getTime(), oldest));
    const recovery = await this.repository.request(endpoint.id, start, now);
    // The endpoint may have been deleted since it was read.
    if (!recovery) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    // It sends only the selected events.
    if (recovery.resendId !== null) throw INVALID_FIELD.error(RESEND_RUNNING);
    // Another request may have started it.
    if (recovery.requestedAt.getTime() === now.getTime()) {
      const changes = changesBetween({}, { since: start });
      await this.endpoints.record('webhook.resend', actor, endpoint, changes);
    }
    return toResponse(recovery);
  }

  async get(actor: DashboardActor, id: string): Promise<RecoveryResponse> {
    const endpoint = await this.endpoints.require(actor, id);
    return toResponse(await this.repository.of(endpoint.id));
  }
}

/** @param recovery undefined if the endpoint has had none */
function toResponse(recovery: Recovery | undefined): RecoveryResponse {
  return {
    status: recovery ? (recovery.finishedAt ? 'finished' : 'running') : 'none',
    since: recovery?.since ?? null,
    queued: recovery?.queued ?? 0,
    requested_at: recovery?.requestedAt ?? null,
    finished_at: recovery?.finishedAt ?? null,
  };
}
