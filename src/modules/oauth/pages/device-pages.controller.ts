import { Controller, Get, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { DevicePagesService } from './device-pages.service.js';

@Controller('device')
export class DevicePagesController {
  constructor(private readonly pages: DevicePagesService) {}

  @Get()
  @PageRoute({ login: true })
  enter(@Query('user_code') userCode: unknown): PageResponse {
    return this.pages.enter(userCode);
  }

  @Post()
  @PageRoute({ login: true, form: true })
  lookUp(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.lookUp(actor, form);
  }

  @Get('confirm')
  @PageRoute({ login: true })
  confirm(@CurrentActor() actor: DashboardActor, @Query('request') id: unknown): Promise<PageResponse> {
    return this.pages.confirm(actor, id);
  }

  @Post('confirm')
  @PageRoute({ login: true, form: true })
  decide(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.decide(actor, form);
  }

  @Get('result')
  @PageRoute({ login: true })
  result(@CurrentActor() actor: DashboardActor, @Query('request') id: unknown): Promise<PageResponse> {
    return this.pages.result(actor, id);
  }
}
