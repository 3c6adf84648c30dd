import { randomUUID } from 'node:crypto';
import { Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import { isUUID } from 'class-validator';
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
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
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
  type SamlAddresses,
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
    private readonly domains: AllowlistedDomainsService,
  ) {}

  @Get()
  @DashboardPage('listSamlConfigurations')
  async list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return configurationsPage(await this.configurations.list(actor));
  }

  /** @param id of the new configuration, so that a reload shows the same addresses */
  @Get('configurations/new')
  @DashboardPage('createSamlConfiguration')
  startAddingSaml(@Query('id') id: unknown): PageResponse {
    return this.newSamlPage(id);
  }

  @Post('configurations/new')
  @DashboardAction('createSamlConfiguration', WITH_METADATA)
  addSaml(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () =>
        added(await this.configurations.addSaml(actor, requestFrom(AddSamlConfigurationRequest, form))),
      () => this.newSamlPage(form.get('id')),
    );
  }

  @Get('configurations/new-openid')
  @DashboardPage('createSamlConfiguration')
  startAddingOpenid(@Query('id') id: unknown): PageResponse {
    return this.newOpenidPage(id);
  }

  @Post('configurations/new-openid')
  @DashboardAction('createSamlConfiguration')
  addOpenid(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () =>
        added(await this.configurations.addOpenid(actor, requestFrom(AddOpenidConfigurationRequest, form))),
      () => this.newOpenidPage(form.get('id')),
    );
  }

  @Get(':id')
  @DashboardPage('getSamlConfiguration')
  async show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.page(actor, await this.configurations.get(actor, id));
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
      () => this.page(actor, configuration),
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
      () => this.page(actor, configuration),
    );
  }

  private newSamlPage(wanted: unknown): PageResponse {
    const id = isUUID(wanted) ? String(wanted).toLowerCase() : randomUUID();
    return newSamlPage(id, this.samlAddresses(id));
  }

  private newOpenidPage(wanted: unknown): PageResponse {
    const id = isUUID(wanted) ? String(wanted).toLowerCase() : randomUUID();
    return newOpenidPage(id, this.openid.address(id));
  }

  private async page(actor: DashboardActor, configuration: SsoConfiguration): Promise<PageResponse> {
    const { id, protocol } = configuration;
    const domains = await this.domains.list(actor);
    const state = {
      attempts: await this.logins.listAttempts(id),
      proved: domains.flatMap(({ domain, provedAt }) => (provedAt ? [domain] : [])),
      enabled: (await this.configurations.list(actor)).find(({ enabledAt }) => enabledAt !== null),
    };
    if (protocol === 'openid')
      return configurationPage(configuration, { redirectUri: this.openid.address(id) }, state);
    const certificates = (await this.keys.keysOf(id)).map(({ certificate }) => certificate);
    return configurationPage(configuration, { ...this.samlAddresses(id), certificates }, state);
  }

  private samlAddresses(id: string): SamlAddresses {
    return { metadataUrl: this.saml.entityId(id), address: this.saml.address(id) };
  }
}

function added({ id }: SsoConfiguration): PageResponse {
  return { redirectTo: `${configurationPath(id)}?done=added` };
}
