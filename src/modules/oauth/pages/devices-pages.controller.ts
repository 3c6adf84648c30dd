import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../../infrastructure/pages/index.js';
import { DevicesPagesService } from './devices-pages.service.js';

@Controller('dashboard/devices')
export class DevicesPagesController {
  constructor(private readonly pages: DevicesPagesService) {}

  @Get()
  @PageRoute({ login: true })
  list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.list(actor);
  }

  @Post()
  @PageRoute({ login: true, form: true })
  end(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.end(actor, form);
  }
}
