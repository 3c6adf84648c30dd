import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  requireUnchanged,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { SsoSettingsRequest } from './sso-settings.dto.js';
import { changeableOf, SETTINGS_PATH, settingsPage } from './sso-settings.pages.js';
import { SsoSettingsService } from './sso-settings.service.js';

@Controller(SETTINGS_PATH.slice(1))
export class SsoSettingsPagesController {
  constructor(private readonly settings: SsoSettingsService) {}

  @Get()
  @DashboardPage('enableSamlConfiguration')
  async show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    const { organizationId } = actor;
    const owners = await this.settings.owners(actor);
    const staleness = await this.settings.stalenessOf(organizationId);
    return settingsPage(actor, await this.settings.get(organizationId), owners, staleness);
  }

  @Post()
  @DashboardAction('enableSamlConfiguration')
  change(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const isYes = (name: string): boolean => form.get(name) === 'yes';
    return submitted(
      async () => {
        const choices = {
          creates_users: isYes('creates_users'),
          is_two_factor: isYes('is_two_factor'),
          required: isYes('required'),
        };
        await this.settings.change(actor, requestFrom(SsoSettingsRequest, form, choices), (current) =>
          requireUnchanged(form, changeableOf(current)),
        );
        return { redirectTo: `${SETTINGS_PATH}?done=changed` };
      },
      () => this.show(actor),
    );
  }

  @Post('break-glass')
  @DashboardAction('enableSamlConfiguration')
  mark(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const isMarked = form.get('mark') === 'yes';
        await this.settings.markBreakGlass(actor, form.get('user_id') ?? '', isMarked);
        return { redirectTo: `${SETTINGS_PATH}?done=${isMarked ? 'marked' : 'unmarked'}` };
      },
      () => this.show(actor),
    );
  }
}
