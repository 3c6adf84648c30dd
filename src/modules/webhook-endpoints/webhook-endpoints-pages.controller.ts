import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  FormBody,
  PageEnvironment,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { WebhookEndpointsPagesService } from './webhook-endpoints-pages.service.js';

@Controller(inEachEnvironment('webhook-endpoints'))
export class WebhookEndpointsPagesController {
  constructor(private readonly pages: WebhookEndpointsPagesService) {}

  @Get()
  @DashboardPage('listWebhookEndpoints')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    return this.pages.list(actor, environment);
  }

  @Post('new')
  @DashboardAction('createWebhookEndpoint')
  create(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.create(actor, environment, form);
  }

  @Get(':id')
  @DashboardPage('getWebhookEndpoint')
  get(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.get(actor, environment, id);
  }

  @Get('new')
  @DashboardPage('createWebhookEndpoint')
  startCreating(@PageEnvironment() environment: PlatformEnvironment): PageResponse {
    return this.pages.startCreating(environment);
  }

  @Get(':id/edit')
  @DashboardPage('updateWebhookEndpoint')
  startEditing(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.startEditing(actor, environment, id);
  }

  @Post(':id/edit')
  @DashboardAction('updateWebhookEndpoint')
  edit(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.edit(actor, environment, id, form);
  }

  @Post(':id/status')
  @DashboardAction('updateWebhookEndpoint')
  setStatus(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.setStatus(actor, environment, id, form);
  }

  @Get(':id/delete')
  @DashboardPage('deleteWebhookEndpoint')
  startDeleting(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.startDeleting(actor, environment, id);
  }

  @Post(':id/delete')
  @DashboardAction('deleteWebhookEndpoint')
  delete(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.delete(actor, environment, id);
  }
}
