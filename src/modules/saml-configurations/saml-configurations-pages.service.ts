import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../infrastructure/pages/index.js';
import { CreateSamlConfigurationRequest, UpdateSamlConfigurationRequest } from './saml-configurations.dto.js';
import {
  changeConfigurationPage,
  configurationPage,
  configurationPath,
  configurationsPage,
  confirmationPage,
  newConfigurationPage,
  type ConfigurationAction,
} from './saml-configurations.pages.js';
import { SamlConfigurationsService } from './saml-configurations.service.js';

/** The pages about single sign-on. */
@Injectable()
export class SamlConfigurationsPagesService {
  constructor(private readonly configurations: SamlConfigurationsService) {}

  async list(actor: DashboardActor): Promise<PageResponse> {
    return configurationsPage(await this.configurations.list(actor));
  }

  add(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const request = requestFrom(CreateSamlConfigurationRequest, form);
        const { id } = await this.configurations.create(actor, request);
        return { redirectTo: `${configurationPath(id)}?done=added` };
      },
      (problem) => newConfigurationPage(form, problem),
    );
  }

  async show(actor: DashboardActor, id: string): Promise<PageResponse> {
    return configurationPage(await this.configurations.get(actor, id));
  }

  async startChanging(actor: DashboardActor, id: string): Promise<PageResponse> {
    return changeConfigurationPage(await this.configurations.get(actor, id));
  }

  async change(actor: DashboardActor, id: string, form: FormFields): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations.update(actor, id, requestFrom(UpdateSamlConfigurationRequest, form));
        return { redirectTo: `${configurationPath(id)}?done=changed` };
      },
      (problem) => changeConfigurationPage(configuration, form, problem),
    );
  }

  async confirm(actor: DashboardActor, id: string, action: ConfigurationAction): Promise<PageResponse> {
    return confirmationPage(await this.configurations.get(actor, id), action);
  }

  async perform(actor: DashboardActor, id: string, action: ConfigurationAction): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    return submitted(
      async () => {
        await this.configurations[action](actor, id);
        return { redirectTo: `${configurationPath(id)}?done=${action}d` };
      },
      (problem) => confirmationPage(configuration, action, problem),
    );
  }
}
