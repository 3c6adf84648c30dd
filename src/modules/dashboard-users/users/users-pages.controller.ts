import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { UsersPagesService } from './users-pages.service.js';

@Controller('dashboard/users')
export class UsersPagesController {
  constructor(private readonly pages: UsersPagesService) {}

  @Get()
  @DashboardPage('listUsers')
  list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<PageResponse> {
    return this.pages.list(actor, query);
  }

  @Get('invitations/new')
  @DashboardPage('createUser')
  startInviting(@CurrentActor() actor: DashboardActor): PageResponse {
    return this.pages.startInviting(actor);
  }

  @Post('invitations/new')
  @DashboardAction('createUser')
  invite(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.invite(actor, form);
  }

  @Get(':id')
  @DashboardPage('listUsers')
  show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.show(actor, id);
  }

  @Get(':id/change')
  @DashboardPage('updateUser')
  startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.startChanging(actor, id);
  }

  @Post(':id/change')
  @DashboardAction('updateUser')
  change(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.change(actor, id, form);
  }

  @Get(':id/disable')
  @DashboardPage('updateUser')
  startDisabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.confirm(actor, id, 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('updateUser')
  disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.perform(actor, id, 'disable');
  }

  @Get(':id/enable')
  @DashboardPage('updateUser')
  startEnabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.confirm(actor, id, 'enable');
  }

  @Post(':id/enable')
  @DashboardAction('updateUser')
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.perform(actor, id, 'enable');
  }

  @Get(':id/remove')
  @DashboardPage('deleteUser')
  startRemoving(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.confirm(actor, id, 'remove');
  }

  @Post(':id/remove')
  @DashboardAction('deleteUser')
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.perform(actor, id, 'remove');
  }
}
