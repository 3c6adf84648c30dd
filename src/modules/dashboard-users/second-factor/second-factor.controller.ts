import { Controller, Get, Post } from '@nestjs/common';
import { DashboardUserCaller, type DashboardCaller } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, SentForm, type PageAnswer } from '../../../infrastructure/pages/index.js';
import { SecondFactorFlow } from './second-factor.flow.js';

@Controller('account/second-factor')
export class SecondFactorController {
  constructor(private readonly flow: SecondFactorFlow) {}

  @Get()
  @PageRoute({ login: true })
  show(@DashboardUserCaller() caller: DashboardCaller): Promise<PageAnswer> {
    return this.flow.show(caller);
  }

  @Post('setup')
  @PageRoute({ login: true, form: true })
  prepare(@DashboardUserCaller() caller: DashboardCaller): Promise<PageAnswer> {
    return this.flow.prepare(caller);
  }

  @Get('setup')
  @PageRoute({ login: true })
  showSetup(@DashboardUserCaller() caller: DashboardCaller): Promise<PageAnswer> {
    return this.flow.showSetup(caller);
  }

  @Post('enable')
  @PageRoute({ login: true, form: true })
  enable(@DashboardUserCaller() caller: DashboardCaller, @SentForm() form: FormFields): Promise<PageAnswer> {
    return this.flow.enable(caller, form);
  }

  @Post('disable')
  @PageRoute({ login: true, form: true })
  disable(@DashboardUserCaller() caller: DashboardCaller, @SentForm() form: FormFields): Promise<PageAnswer> {
    return this.flow.disable(caller, form);
  }

  @Post('recovery-codes')
  @PageRoute({ login: true, form: true })
  renewRecoveryCodes(
    @DashboardUserCaller() caller: DashboardCaller,
    @SentForm() form: FormFields,
  ): Promise<PageAnswer> {
    return this.flow.renewRecoveryCodes(caller, form);
  }
}
