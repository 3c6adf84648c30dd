import { Controller, Get, Post, Query } from '@nestjs/common';
import { DashboardUserCaller, type DashboardCaller } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, SentForm, type PageAnswer } from '../../../infrastructure/pages/index.js';
import { DevicePages } from './device-pages.service.js';

@Controller('device')
export class DevicePagesController {
  constructor(private readonly pages: DevicePages) {}

  @Get()
  @PageRoute({ login: true })
  enter(@Query('user_code') userCode: unknown): PageAnswer {
    return this.pages.enter(userCode);
  }

  @Post()
  @PageRoute({ login: true, form: true })
  lookUp(@DashboardUserCaller() caller: DashboardCaller, @SentForm() form: FormFields): Promise<PageAnswer> {
    return this.pages.lookUp(caller, form);
  }

  @Get('confirm')
  @PageRoute({ login: true })
  confirm(
    @DashboardUserCaller() caller: DashboardCaller,
    @Query('request') id: unknown,
  ): Promise<PageAnswer> {
    return this.pages.confirm(caller, id);
  }

  @Post('confirm')
  @PageRoute({ login: true, form: true })
  decide(@DashboardUserCaller() caller: DashboardCaller, @SentForm() form: FormFields): Promise<PageAnswer> {
    return this.pages.decide(caller, form);
  }

  @Get('result')
  @PageRoute({ login: true })
  result(@DashboardUserCaller() caller: DashboardCaller, @Query('request') id: unknown): Promise<PageAnswer> {
    return this.pages.result(caller, id);
  }
}
