import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  requestFrom,
  submitted,
  timestampFrom,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { endpointPath, WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { TestWebhookEndpointRequest } from '../deliveries/deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { RecoverRequest } from '../recoveries/recoveries.dto.js';
import { RecoveriesService } from '../recoveries/recoveries.service.js';
import { recoveryPage, testPage } from './endpoint.pages.js';

/** The pages that send something to a webhook endpoint. */
@Injectable()
export class EndpointPagesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly recoveries: RecoveriesService,
  ) {}

  async startTest(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<PageResponse> {
    return testPage(environment, await this.endpoints.requireIn(actor, environment, id), {});
  }

  async test(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.requireIn(actor, environment, id);
    const event = form.get('event');
    return submitted(
      async () => {
        const request = requestFrom(TestWebhookEndpointRequest, form);
        const result = await this.deliveries.test(actor, id, request.event);
        return testPage(environment, endpoint, { event: request.event, result });
      },
      (problem) => testPage(environment, endpoint, { event, problem }),
    );
  }

  /** @param refused the time that was not accepted, and why */
  async recovery(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    refused: { readonly since?: string | undefined; readonly problem?: string } = {},
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const [endpoint, recovery] = await Promise.all([
      this.endpoints.get(actor, id),
      this.recoveries.get(actor, id),
    ]);
    return recoveryPage(endpoint, recovery, refused);
  }

  async recover(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since) });
        await this.recoveries.request(actor, id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, id, 'recover')}?done=started&live=on` };
      },
      (problem) => this.recovery(actor, environment, id, { since, problem }),
    );
  }
}
