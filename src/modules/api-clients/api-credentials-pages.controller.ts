import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { ApiCredentialsPagesService } from './api-credentials-pages.service.js';

@Controller(inEachEnvironment('api-credentials'))
export class ApiCredentialsPagesController {
  constructor(private readonly pages: ApiCredentialsPagesService) {}

  @Get()
  @DashboardPage('listApiClients')
  show(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    return this.pages.show(actor, environment);
  }

  @Get(':client_id/rename')
  @DashboardPage('updateApiClient')
  startRenaming(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.startRenaming(actor, environment, clientId);
  }

  @Post(':client_id/rename')
  @DashboardAction('updateApiClient')
  rename(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.rename(actor, environment, clientId, form);
  }

  @Get(':client_id/view')
  @DashboardPage('viewApiSecret')
  startViewing(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.startViewing(actor, environment, clientId);
  }

  @Post(':client_id/view')
  @DashboardAction('viewApiSecret')
  view(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.view(actor, environment, clientId);
  }

  @Get(':client_id/rotate')
  @DashboardPage('rotateApiSecret')
  startRotating(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.startRotating(actor, environment, clientId);
  }

  @Post(':client_id/rotate')
  @DashboardAction('rotateApiSecret')
  rotate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.rotate(actor, environment, clientId, form);
  }

  @Get(':client_id/activate')
  @DashboardPage('activateApiSecret')
  startActivating(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.startActivating(actor, environment, clientId);
  }

  @Post(':client_id/activate')
  @DashboardAction('activateApiSecret')
  activate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return this.pages.activate(actor, environment, clientId);
  }
}
