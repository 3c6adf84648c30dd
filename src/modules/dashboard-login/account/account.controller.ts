import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { AccountPagesService } from './account-pages.service.js';
import { passwordChangedPage, passwordPage } from './account.pages.js';

@Controller('account')
export class AccountController {
  constructor(private readonly pages: AccountPagesService) {}

  @Get()
  @PageRoute({ login: true })
  show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.show(actor);
  }

  @Post('sessions/end')
  @PageRoute({ login: true, form: true })
  endSession(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.endSession(actor, form);
  }

  @Post('sessions/end-others')
  @PageRoute({ login: true, form: true })
  endOtherSessions(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.endOtherSessions(actor);
  }

  @Get('password')
  @PageRoute({ login: true })
  askPassword(@CurrentActor() { email }: DashboardActor): PageResponse {
    return passwordPage({ email });
  }

  @Post('password')
  @PageRoute({ login: true, form: true })
  changePassword(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.changePassword(actor, form);
  }

  @Get('password/changed')
  @PageRoute({ login: true })
  passwordChanged(): PageResponse {
    return passwordChangedPage();
  }
}
