import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../../infrastructure/pages/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { DeviceApprovalsService } from '../authorizations/device-approvals.service.js';
import { devicesPage, DEVICES_PATH } from './devices.pages.js';

@Controller('dashboard/devices')
export class DevicesPagesController {
  constructor(
    private readonly approvals: DeviceApprovalsService,
    private readonly clients: ApiClientDirectory,
  ) {}

  @Get()
  @PageRoute({ login: true })
  async list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    const devices = await this.approvals.listAccess(actor);
    const clientIds = [...new Set(devices.map(({ clientId }) => clientId))];
    const names = await Promise.all(clientIds.map((id) => this.clients.nameOf(id)));
    return devicesPage(devices, new Map(clientIds.map((id, index) => [id, names[index] ?? id])));
  }

  @Post()
  @PageRoute({ login: true, form: true })
  async end(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    await this.approvals.endAccess(actor, form.get('device') ?? '');
    return { redirectTo: `${DEVICES_PATH}?done=ended` };
  }
}
