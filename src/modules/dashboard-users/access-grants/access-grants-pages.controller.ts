import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { AccessGrantsPagesService } from './access-grants-pages.service.js';

@Controller('dashboard/access-grants')
export class AccessGrantsPagesController {
  constructor(private readonly pages: AccessGrantsPagesService) {}

  @Get()
  @DashboardPage('listAccessGrants')
  list(@CurrentActor() actor: DashboardActor, @Query('cursor') cursor: unknown): Promise<PageResponse> {
    return this.pages.list(actor, cursor);
  }

  @Get('new')
  @DashboardPage('createAccessGrant')
  startGranting(
    @CurrentActor() actor: DashboardActor,
    @Query('email') email: unknown,
  ): Promise<PageResponse> {
    return this.pages.startGranting(actor, email);
  }

  @Post('new')
  @DashboardAction('createAccessGrant')
  grant(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.grant(actor, form);
  }

  @Get(':id/revoke')
  @DashboardPage('revokeAccessGrant')
  startRevoking(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.startRevoking(actor, id);
  }

  @Post(':id/revoke')
  @DashboardAction('revokeAccessGrant')
  revoke(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.revoke(actor, id);
  }
}
