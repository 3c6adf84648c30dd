import { Controller, Get, Header, Post, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardFile,
  DashboardPage,
  FormBody,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { OrganizationAdministrationService } from './organization-administration.service.js';
import { OrganizationPagesService } from './organization-pages.service.js';
import { logoPage } from './organization.pages.js';

/** Bytes. More than an image may have, so that the page can say what is wrong with larger ones. */
const UPLOAD_LIMIT = 4_194_304;

@Controller('dashboard/organization')
export class OrganizationPagesController {
  constructor(
    private readonly pages: OrganizationPagesService,
    private readonly administration: OrganizationAdministrationService,
  ) {}

  @Get()
  @DashboardPage('getOrganization')
  show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.show(actor);
  }

  @Get('activate')
  @DashboardPage('activateOrganization')
  startActivating(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.startActivating(actor);
  }

  @Post('activate')
  @DashboardAction('activateOrganization')
  activate(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.activate(actor);
  }

  @Get('second-factor')
  @DashboardPage('updateOrganization')
  startChanging(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.startChanging(actor);
  }

  @Post('second-factor')
  @DashboardAction('updateOrganization')
  change(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.change(actor, form);
  }

  // A user uploaded the image: browsers must not execute anything in it.
  @Get('logo')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardFile('getOrganizationLogo')
  logo(@CurrentActor() actor: DashboardActor): Promise<StreamableFile> {
    return this.administration.logo(actor, false);
  }

  @Get('logo/change')
  @DashboardPage('updateOrganizationLogo')
  startChangingLogo(): PageResponse {
    return logoPage();
  }

  @Post('logo/change')
  @DashboardAction('updateOrganizationLogo', { limit: UPLOAD_LIMIT, hasFiles: true })
  changeLogo(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.changeLogo(actor, form);
  }
}
