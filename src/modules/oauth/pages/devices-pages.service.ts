import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { DeviceAccessService } from '../tokens/device-access.service.js';
import { devicesPage, DEVICES_PATH } from './devices.pages.js';

/** The page about the devices that a user approved. */
@Injectable()
export class DevicesPagesService {
  constructor(
    private readonly devices: DeviceAccessService,
    private readonly clients: ApiClientDirectory,
  ) {}

  async list(actor: DashboardActor): Promise<PageResponse> {
    const devices = await this.devices.list(actor);
    const clientIds = [...new Set(devices.map(({ clientId }) => clientId))];
    const names = await Promise.all(clientIds.map((id) => this.clients.nameOf(id)));
    return devicesPage(devices, new Map(clientIds.map((id, index) => [id, names[index] ?? id])));
  }

  async end(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    await this.devices.end(actor, form.get('device') ?? '');
    return { redirectTo: `${DEVICES_PATH}?done=ended` };
  }
}
