import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../infrastructure/pages/index.js';
import { OrganizationAdministrationService } from './organization-administration.service.js';
import { UpdateLogoRequest, UpdateOrganizationRequest } from './organization.dto.js';
import {
  activatePage,
  logoPage,
  secondFactorPage,
  settingsPage,
  SETTINGS_PATH,
} from './organization.pages.js';

/** Whether two-factor authentication is required. */
const CHOICES: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
]);

/** The pages about the settings of an organization. */
@Injectable()
export class OrganizationPagesService {
  constructor(private readonly administration: OrganizationAdministrationService) {}

  async show(actor: DashboardActor): Promise<PageResponse> {
    return settingsPage(await this.administration.get(actor));
  }

  async startActivating(actor: DashboardActor): Promise<PageResponse> {
    return activatePage(await this.administration.get(actor));
  }

  async activate(actor: DashboardActor): Promise<PageResponse> {
    await this.administration.activate(actor);
    return { redirectTo: `${SETTINGS_PATH}?done=activated` };
  }

  async startChanging(actor: DashboardActor): Promise<PageResponse> {
    return secondFactorPage(await this.administration.get(actor));
  }

  async change(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    const isRequired = CHOICES.get(form.get('required') ?? '');
    const days = form.get('grace_period_days');
    return submitted(
      async () => {
        const more = {
          require_second_factor: isRequired,
          ...(days === undefined ? {} : { grace_period_days: Number(days) }),
        };
        await this.administration.update(actor, requestFrom(UpdateOrganizationRequest, form, more));
        return { redirectTo: `${SETTINGS_PATH}?done=${isRequired ? 'required' : 'optional'}` };
      },
      async (problem) => secondFactorPage(await this.administration.get(actor), days, problem),
    );
  }

  changeLogo(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const image = form.file('image')?.toString('base64') ?? '';
        await this.administration.updateLogo(actor, requestFrom(UpdateLogoRequest, form, { image }).image);
        return { redirectTo: `${SETTINGS_PATH}?done=logo` };
      },
      (problem) => logoPage(problem),
    );
  }
}
