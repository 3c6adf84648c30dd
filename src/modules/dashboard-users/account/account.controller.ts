import { Controller, Get, Post } from '@nestjs/common';
import { DashboardUserCaller, type DashboardCaller } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, SentForm, type PageAnswer } from '../../../infrastructure/pages/index.js';
import { AccountFlow } from './account.flow.js';

@Controller('account')
export class AccountController {
  constructor(private readonly flow: AccountFlow) {}

  @Get()
  @PageRoute({ login: true })
  show(@DashboardUserCaller() caller: DashboardCaller): Promise<PageAnswer> {
    return this.flow.show(caller);
  }

  @Post('sessions/end')
  @PageRoute({ login: true, form: true })
  endSession(
    @DashboardUserCaller() caller: DashboardCaller,
    @SentForm() form: FormFields,
  ): Promise<PageAnswer> {
    return this.flow.endSession(caller, form);
  }

  @Post('sessions/end-others')
  @PageRoute({ login: true, form: true })
  endOtherSessions(@DashboardUserCaller() caller: DashboardCaller): Promise<PageAnswer> {
    return this.flow.endOtherSessions(caller);
  }

  @Get('password')
  @PageRoute({ login: true })
  askPassword(@DashboardUserCaller() caller: DashboardCaller): PageAnswer {
    return this.flow.askPassword(caller);
  }

  @Post('password')
  @PageRoute({ login: true, form: true })
  changePassword(
    @DashboardUserCaller() caller: DashboardCaller,
    @SentForm() form: FormFields,
  ): Promise<PageAnswer> {
    return this.flow.changePassword(caller, form);
  }

  @Get('password/changed')
  @PageRoute({ login: true })
  passwordChanged(): PageAnswer {
    return this.flow.passwordChanged();
  }
}
