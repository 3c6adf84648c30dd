import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  requestFrom,
  submitted,
  timestampFrom,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { endpointPath } from '../endpoints/endpoint-parts.pages.js';
import { WebhookEndpointsService } from '../endpoints/webhook-endpoints.service.js';
import { RecoveriesService } from '../recoveries/recoveries.service.js';
import { RecoverRequest, TestWebhookEndpointRequest } from './deliveries.dto.js';
import { recoveryPage, testPage } from './deliveries.pages.js';
import { DeliveriesService } from './deliveries.service.js';

/** The pages that send something to a webhook endpoint. */
@Controller(inEachEnvironment('webhook-endpoints'))
export class DeliveriesPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly recoveries: RecoveriesService,
  ) {}

  @Get(':id/test')
  @DashboardPage('testWebhookEndpoint')
  async startTest(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return testPage(environment, await this.endpoints.requireIn(actor, environment, id), {});
  }

  @Post(':id/test')
  @DashboardAction('testWebhookEndpoint')
  async test(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.requireIn(actor, environment, id);
    return submitted(
      async () => {
        const { event } = requestFrom(TestWebhookEndpointRequest, form);
        return testPage(environment, endpoint, {
          event,
          result: await this.deliveries.test(actor, id, event),
        });
      },
      (problem) => testPage(environment, endpoint, { event: form.get('event'), problem }),
    );
  }

  @Get(':id/recover')
  @DashboardPage('getWebhookRecovery')
  recovery(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.recoveryPage(actor, environment, id, {});
  }

  @Post(':id/recover')
  @DashboardAction('recoverWebhooks')
  async recover(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since) });
        await this.recoveries.request(actor, id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, id, 'recover')}?done=started&live=on` };
      },
      (problem) => this.recoveryPage(actor, environment, id, { since, problem }),
    );
  }

  /** @param refused the time that was not accepted, and why */
  private async recoveryPage(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    refused: { readonly since?: string | undefined; readonly problem?: string },
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const [endpoint, recovery] = await Promise.all([
      this.endpoints.get(actor, id),
      this.recoveries.get(actor, id),
    ]);
    return recoveryPage(endpoint, recovery, refused);
  }
}
