import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { SecondFactorPagesService } from './second-factor-pages.service.js';

@Controller('account/second-factor')
export class SecondFactorController {
  constructor(private readonly pages: SecondFactorPagesService) {}

  @Get()
  @PageRoute({ login: true, withoutSecondFactor: true })
  show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.show(actor);
  }

  @Post('setup')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  prepare(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.prepare(actor);
  }

  @Get('setup')
  @PageRoute({ login: true, withoutSecondFactor: true })
  showSetup(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.showSetup(actor);
  }

  @Post('enable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  enable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.enable(actor, form);
  }

  @Post('disable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  disable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.disable(actor, form);
  }

  @Post('recovery-codes')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  renewRecoveryCodes(
    @CurrentActor() actor: DashboardActor,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.renewRecoveryCodes(actor, form);
  }
}
