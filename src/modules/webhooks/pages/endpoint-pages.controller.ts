import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  FormBody,
  PageEnvironment,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { OutsideOrganizationQueue } from '../../../infrastructure/surfaces/index.js';
import { EndpointPagesService } from './endpoint-pages.service.js';

@Controller(inEachEnvironment('webhook-endpoints'))
export class EndpointPagesController {
  constructor(private readonly pages: EndpointPagesService) {}

  @Get(':id/test')
  @DashboardPage('testWebhookEndpoint')
  startTest(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.startTest(actor, environment, id);
  }

  @Post(':id/test')
  @DashboardAction('testWebhookEndpoint')
  @OutsideOrganizationQueue()
  test(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.test(actor, environment, id, form);
  }

  @Get(':id/recover')
  @DashboardPage('getWebhookRecovery')
  recovery(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.recovery(actor, environment, id);
  }

  @Post(':id/recover')
  @DashboardAction('recoverWebhooks')
  recover(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.recover(actor, environment, id, form);
  }
}
