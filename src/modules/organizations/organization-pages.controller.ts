import { Controller, Get, Header, Post, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardFile,
  DashboardPage,
  FormBody,
  requestFrom,
  requireUnchanged,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { UpdateOrganizationRequest } from './organization.dto.js';
import {
  activatePage,
  changeableOf,
  logoPage,
  secondFactorPage,
  settingsPage,
  SETTINGS_PATH,
} from './organization.pages.js';
import { OrganizationsService } from './organizations.service.js';

/** Bytes. More than an image may have, so that the page can say what is wrong with larger ones. */
const UPLOAD_LIMIT = 4_194_304;

/** Whether two-factor authentication is required. */
const CHOICES: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
]);

@Controller('dashboard/organization')
export class OrganizationPagesController {
  constructor(private readonly organizations: OrganizationsService) {}

  @Get()
  @DashboardPage('getOrganization')
  async show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return settingsPage(await this.organizations.get(actor));
  }

  @Get('activate')
  @DashboardPage('activateOrganization')
  async startActivating(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return activatePage(await this.organizations.get(actor));
  }

  @Post('activate')
  @DashboardAction('activateOrganization')
  async activate(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    await this.organizations.activate(actor);
    return { redirectTo: `${SETTINGS_PATH}?done=activated` };
  }

  @Get('second-factor')
  @DashboardPage('updateOrganization')
  async startChanging(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return secondFactorPage(await this.organizations.get(actor));
  }

  @Post('second-factor')
  @DashboardAction('updateOrganization')
  change(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const isRequired = CHOICES.get(form.get('required') ?? '');
    const days = form.get('grace_period_days');
    return submitted(
      async () => {
        const more = {
          require_second_factor: isRequired,
          ...(days === undefined ? {} : { grace_period_days: Number(days) }),
        };
        await this.organizations.update(
          actor,
          requestFrom(UpdateOrganizationRequest, form, more),
          (current) => requireUnchanged(form, changeableOf(current)),
        );
        return { redirectTo: `${SETTINGS_PATH}?done=${isRequired ? 'required' : 'optional'}` };
      },
      async () => secondFactorPage(await this.organizations.get(actor)),
    );
  }

  // A user uploaded the image: browsers must not execute anything in it.
  @Get('logo')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardFile('getOrganizationLogo')
  logo(@CurrentActor() actor: DashboardActor): Promise<StreamableFile> {
    return this.organizations.logo(actor);
  }

  @Get('logo/change')
  @DashboardPage('updateOrganizationLogo')
  startChangingLogo(): PageResponse {
    return logoPage();
  }

  @Post('logo/change')
  @DashboardAction('updateOrganizationLogo', { limit: UPLOAD_LIMIT, hasFiles: true })
  changeLogo(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(async () => {
      await this.organizations.updateLogo(actor, form.file('image'));
      return { redirectTo: `${SETTINGS_PATH}?done=logo` };
    }, logoPage);
  }
}
