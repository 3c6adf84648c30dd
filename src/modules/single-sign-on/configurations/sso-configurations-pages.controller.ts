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
import { SsoLoginsService } from '../logins/sso-logins.service.js';
import {
  AddOpenidConfigurationRequest,
  ChangeOpenidConfigurationRequest,
} from '../openid/openid-configurations.dto.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import {
  AddSamlConfigurationRequest,
  ChangeSamlConfigurationRequest,
} from '../saml/saml-configurations.dto.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';
import { SamlProvider } from '../saml/saml-provider.js';
import type { SsoConfiguration } from './sso-configuration.entity.js';
import {
  changePage,
  configurationPage,
  configurationPath,
  configurationsPage,
  confirmPage,
  newOpenidPage,
  newSamlPage,
  type Confirmed,
} from './sso-configurations.pages.js';
import { SsoConfigurationsService } from './sso-configurations.service.js';

/** For the longest metadata that the operations accept, in which each character may take three bytes. */
const WITH_METADATA = { limit: 1_048_576 };

@Controller('dashboard/single-sign-on')
export class SsoConfigurationsPagesController {
  constructor(
    private readonly configurations: SsoConfigurationsService,
    private readonly logins: SsoLoginsService,
    private readonly openid: OpenidProvider,
    private readonly saml: SamlProvider,
    private readonly keys: SamlKeysService,
  ) {}

  @Get()
  @DashboardPage('listSamlConfigurations')
  async list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return configurationsPage(await this.configurations.list(actor));
  }

  @Get('configurations/new')
  @DashboardPage('createSamlConfiguration')
  startAddingSaml(): PageResponse {
    return newSamlPage();
  }

  @Post('configurations/new')
  @DashboardAction('createSamlConfiguration', WITH_METADATA)
  addSaml(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () =>
        added(await this.configurations.addSaml(actor, requestFrom(AddSamlConfigurationRequest, form))),
      newSamlPage,
    );
  }

  @Get('configurations/new-openid')
  @DashboardPage('createSamlConfiguration')
  startAddingOpenid(): PageResponse {
    return newOpenidPage();
  }

  @Post('configurations/new-openid')
  @DashboardAction('createSamlConfiguration')
  addOpenid(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () =>
        added(await this.configurations.addOpenid(actor, requestFrom(AddOpenidConfigurationRequest, form))),
      newOpenidPage,
    );
  }

  @Get(':id')
  @DashboardPage('getSamlConfiguration')
  async show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.page(await this.configurations.get(actor, id));
  }

  @Get(':id/change')
  @DashboardPage('updateSamlConfiguration')
  async startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return changePage(await this.configurations.get(actor, id));
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
        if (configuration.protocol === 'saml')
          await this.configurations.changeSaml(actor, id, requestFrom(ChangeSamlConfigurationRequest, form));
        else
          await this.configurations.changeOpenid(
            actor,
            id,
            requestFrom(ChangeOpenidConfigurationRequest, form),
          );
        return { redirectTo: `${configurationPath(id)}?done=changed` };
      },
      () => changePage(configuration),
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
        return continuePage(begun);
      },
      () => this.page(configuration),
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
    return this.perform(actor, id, 'enabled', () => this.configurations.enable(actor, id));
  }

  @Get(':id/disable')
  @DashboardPage('disableSamlConfiguration')
  startDisabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('disableSamlConfiguration')
  disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'disabled', () => this.configurations.disable(actor, id));
  }

  @Post(':id/certificates/add')
  @DashboardAction('updateSamlConfiguration')
  addCertificate(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'certificate-added', (configuration) =>
      this.configurations.beginRollover(actor, configuration),
    );
  }

  @Get(':id/certificates/remove')
  @DashboardPage('updateSamlConfiguration')
  startRemovingCertificate(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.confirm(actor, id, 'remove-certificate');
  }

  @Post(':id/certificates/remove')
  @DashboardAction('updateSamlConfiguration')
  removeCertificate(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'certificate-removed', (configuration) =>
      this.configurations.endRollover(actor, configuration),
    );
  }

  private async confirm(actor: DashboardActor, id: string, action: Confirmed): Promise<PageResponse> {
    return confirmPage(await this.configurations.get(actor, id), action);
  }

  private async perform(
    actor: DashboardActor,
    id: string,
    done: string,
    work: (configuration: SsoConfiguration) => Promise<unknown>,
  ): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await work(configuration);
        return { redirectTo: `${configurationPath(id)}?done=${done}` };
      },
      () => this.page(configuration),
    );
  }

  private async page(configuration: SsoConfiguration): Promise<PageResponse> {
    const { id, protocol } = configuration;
    const attempts = await this.logins.listAttempts(id);
    if (protocol === 'openid')
      return configurationPage(configuration, { redirectUri: this.openid.address(id) }, attempts);
    const certificates = (await this.keys.keysOf(id)).map(({ certificate }) => certificate);
    const ours = { metadataUrl: this.saml.entityId(id), address: this.saml.address(id), certificates };
    return configurationPage(configuration, ours, attempts);
  }
}

function added({ id }: SsoConfiguration): PageResponse {
  return { redirectTo: `${configurationPath(id)}?done=added` };
}
