import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { SamlConfigurationsPagesService } from './saml-configurations-pages.service.js';
import { newConfigurationPage } from './saml-configurations.pages.js';

/** For the longest metadata that the operations accept, in which each character may take three bytes. */
const WITH_METADATA = { limit: 1_048_576 };

@Controller('dashboard/single-sign-on')
export class SamlConfigurationsPagesController {
  constructor(private readonly pages: SamlConfigurationsPagesService) {}

  @Get()
  @DashboardPage('listSamlConfigurations')
  list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.list(actor);
  }

  @Get('configurations/new')
  @DashboardPage('createSamlConfiguration')
  startAdding(): PageResponse {
    return newConfigurationPage();
  }

  @Post('configurations/new')
  @DashboardAction('createSamlConfiguration', WITH_METADATA)
  add(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.add(actor, form);
  }

  @Get(':id')
  @DashboardPage('getSamlConfiguration')
  show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.show(actor, id);
  }

  @Get(':id/change')
  @DashboardPage('updateSamlConfiguration')
  startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.startChanging(actor, id);
  }

  @Post(':id/change')
  @DashboardAction('updateSamlConfiguration', WITH_METADATA)
  change(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.change(actor, id, form);
  }

  @Get(':id/enable')
  @DashboardPage('enableSamlConfiguration')
  startEnabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.confirm(actor, id, 'enable');
  }

  @Post(':id/enable')
  @DashboardAction('enableSamlConfiguration')
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.perform(actor, id, 'enable');
  }

  @Get(':id/disable')
  @DashboardPage('disableSamlConfiguration')
  startDisabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.confirm(actor, id, 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('disableSamlConfiguration')
  disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.perform(actor, id, 'disable');
  }
}
