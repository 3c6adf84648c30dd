import { Controller, Get, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { continuePage, loginBrowserOf } from '../../dashboard-login/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { SsoLoginsService } from '../logins/sso-logins.service.js';
import {
  AddOpenidConfigurationRequest,
  ChangeOpenidConfigurationRequest,
} from './openid-configurations.dto.js';
import {
  changeOpenidPage,
  confirmOpenidPage,
  newOpenidPage,
  openidPage,
  openidPath,
} from './openid-configurations.pages.js';
import { OpenidConfigurationsService } from './openid-configurations.service.js';
import { OpenidProvider } from './openid-provider.js';

@Controller('dashboard/openid-connect')
export class OpenidConfigurationsPagesController {
  constructor(
    private readonly configurations: OpenidConfigurationsService,
    private readonly provider: OpenidProvider,
    private readonly logins: SsoLoginsService,
  ) {}

  @Get('configurations/new')
  @DashboardPage('createSamlConfiguration')
  startAdding(): PageResponse {
    return newOpenidPage();
  }

  @Post('configurations/new')
  @DashboardAction('createSamlConfiguration')
  add(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(async () => {
      const { id } = await this.configurations.add(actor, requestFrom(AddOpenidConfigurationRequest, form));
      return { redirectTo: `${openidPath(id)}?done=added` };
    }, newOpenidPage);
  }

  @Get(':id')
  @DashboardPage('getSamlConfiguration')
  async show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.page(await this.configurations.get(actor, id));
  }

  @Get(':id/change')
  @DashboardPage('updateSamlConfiguration')
  async startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return changeOpenidPage(await this.configurations.get(actor, id));
  }

  @Post(':id/change')
  @DashboardAction('updateSamlConfiguration')
  async change(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations.change(actor, id, requestFrom(ChangeOpenidConfigurationRequest, form));
        return { redirectTo: `${openidPath(id)}?done=changed` };
      },
      () => changeOpenidPage(configuration),
    );
  }

  @Post(':id/test')
  @DashboardAction('enableSamlConfiguration')
  async test(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Req() request: Request,
  ): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        const begun = await this.logins.beginTest(configuration, actor, loginBrowserOf(request));
        if ('problem' in begun) throw INVALID_FIELD.error(begun.problem);
        return continuePage(begun.url);
      },
      () => this.page(configuration),
    );
  }

  @Get(':id/enable')
  @DashboardPage('enableSamlConfiguration')
  async startEnabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return confirmOpenidPage(await this.configurations.get(actor, id), 'enable');
  }

  @Post(':id/enable')
  @DashboardAction('enableSamlConfiguration')
  async enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations.enable(actor, id);
        return { redirectTo: `${openidPath(id)}?done=enabled` };
      },
      () => confirmOpenidPage(configuration, 'enable'),
    );
  }

  @Get(':id/disable')
  @DashboardPage('disableSamlConfiguration')
  async startDisabling(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return confirmOpenidPage(await this.configurations.get(actor, id), 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('disableSamlConfiguration')
  async disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    await this.configurations.disable(actor, id);
    return { redirectTo: `${openidPath(id)}?done=disabled` };
  }

  private async page(configuration: SsoConfiguration): Promise<PageResponse> {
    const attempts = await this.logins.listAttempts(configuration.id);
    return openidPage(configuration, this.provider.redirectUri(configuration.id), attempts);
  }
}
