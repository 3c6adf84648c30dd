import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { SecondFactorFlow } from './second-factor.flow.js';

@Controller('account/second-factor')
export class SecondFactorController {
  constructor(private readonly flow: SecondFactorFlow) {}

  @Get()
  @PageRoute({ login: true })
  show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.flow.show(actor);
  }

  @Post('setup')
  @PageRoute({ login: true, form: true })
  prepare(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.flow.prepare(actor);
  }

  @Get('setup')
  @PageRoute({ login: true })
  showSetup(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.flow.showSetup(actor);
  }

  @Post('enable')
  @PageRoute({ login: true, form: true })
  enable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.flow.enable(actor, form);
  }

  @Post('disable')
  @PageRoute({ login: true, form: true })
  disable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.flow.disable(actor, form);
  }

  @Post('recovery-codes')
  @PageRoute({ login: true, form: true })
  renewRecoveryCodes(
    @CurrentActor() actor: DashboardActor,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.flow.renewRecoveryCodes(actor, form);
  }
}
