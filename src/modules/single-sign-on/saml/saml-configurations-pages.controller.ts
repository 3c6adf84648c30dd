import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { OpenidConfigurationsService } from '../openid/openid-configurations.service.js';
import { CreateSamlConfigurationRequest, UpdateSamlConfigurationRequest } from './saml-configurations.dto.js';
import {
  changeConfigurationPage,
  configurationPage,
  configurationPath,
  configurationsPage,
  confirmConfigurationPage,
  newConfigurationPage,
  type ConfigurationAction,
} from './saml-configurations.pages.js';
import { SamlConfigurationsService } from './saml-configurations.service.js';

/** For the longest metadata that the operations accept, in which each character may take three bytes. */
const WITH_METADATA = { limit: 1_048_576 };

@Controller('dashboard/single-sign-on')
export class SamlConfigurationsPagesController {
  constructor(
    private readonly configurations: SamlConfigurationsService,
    private readonly openidConfigurations: OpenidConfigurationsService,
  ) {}

  @Get()
  @DashboardPage('listSamlConfigurations')
  async list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return configurationsPage(
      await this.configurations.list(actor),
      await this.openidConfigurations.list(actor),
    );
  }

  @Get('configurations/new')
  @DashboardPage('createSamlConfiguration')
  startAdding(): PageResponse {
    return newConfigurationPage();
  }

  @Post('configurations/new')
  @DashboardAction('createSamlConfiguration', WITH_METADATA)
  add(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(async () => {
      const request = requestFrom(CreateSamlConfigurationRequest, form);
      const { id } = await this.configurations.create(actor, request);
      return { redirectTo: `${configurationPath(id)}?done=added` };
    }, newConfigurationPage);
  }

  @Get(':id')
  @DashboardPage('getSamlConfiguration')
  async show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return configurationPage(await this.configurations.get(actor, id));
  }

  @Get(':id/change')
  @DashboardPage('updateSamlConfiguration')
  async startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return changeConfigurationPage(await this.configurations.get(actor, id));
  }

  @Post(':id/change')
  @DashboardAction('updateSamlConfiguration', WITH_METADATA)
  async change(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations.update(actor, id, requestFrom(UpdateSamlConfigurationRequest, form));
        return { redirectTo: `${configurationPath(id)}?done=changed` };
      },
      () => changeConfigurationPage(configuration),
    );
  }

  @Get(':id/enable')
  @DashboardPage('enableSamlConfiguration')
  startEnabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'enable');
  }

  @Post(':id/enable')
  @DashboardAction('enableSamlConfiguration')
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'enable');
  }

  @Get(':id/disable')
  @DashboardPage('disableSamlConfiguration')
  startDisabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('disableSamlConfiguration')
  disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'disable');
  }

  private async confirm(
    actor: DashboardActor,
    id: string,
    action: ConfigurationAction,
  ): Promise<PageResponse> {
    return confirmConfigurationPage(await this.configurations.get(actor, id), action);
  }

  private async perform(
    actor: DashboardActor,
    id: string,
    action: ConfigurationAction,
  ): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations[action](actor, id);
        return { redirectTo: `${configurationPath(id)}?done=${action}d` };
      },
      () => confirmConfigurationPage(configuration, action),
    );
  }
}
