import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { AccountFlow } from './account.flow.js';

@Controller('account')
export class AccountController {
  constructor(private readonly flow: AccountFlow) {}

  @Get()
  @PageRoute({ login: true })
  show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.flow.show(actor);
  }

  @Post('sessions/end')
  @PageRoute({ login: true, form: true })
  endSession(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.flow.endSession(actor, form);
  }

  @Post('sessions/end-others')
  @PageRoute({ login: true, form: true })
  endOtherSessions(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.flow.endOtherSessions(actor);
  }

  @Get('password')
  @PageRoute({ login: true })
  askPassword(@CurrentActor() actor: DashboardActor): PageResponse {
    return this.flow.askPassword(actor);
  }

  @Post('password')
  @PageRoute({ login: true, form: true })
  changePassword(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.flow.changePassword(actor, form);
  }

  @Get('password/changed')
  @PageRoute({ login: true })
  passwordChanged(): PageResponse {
    return this.flow.passwordChanged();
  }
}
