import { Controller, Inject, Post } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  ActionButton,
  ANY_USER,
  ButtonLink,
  DashboardAction,
  ListPage,
  Visit,
  type ListDescription,
  type PageResponse,
  type PageVisit,
  Moment,
} from '../../../infrastructure/pages/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { DeviceApprovalsService } from '../authorizations/device-approvals.service.js';
import type { DeviceAccess } from '../authorizations/device-authorizations.repository.js';
import { TOKEN_LIFETIME } from '../access-token.js';

const PATH = '/dashboard/devices';

@Controller('dashboard/devices')
export class DevicesPage extends ListPage(ANY_USER) {
  @Inject() private readonly approvals!: DeviceApprovalsService;
  @Inject() private readonly clients!: ApiClientDirectory;

  async describe({ actor }: PageVisit): Promise<ListDescription<DeviceAccess>> {
    const devices = await this.approvals.listAccess(actor);
    const clientIds = [...new Set(devices.map(({ clientId }) => clientId))];
    const names = await Promise.all(clientIds.map((id) => this.clients.nameOf(id)));
    const clientNames = new Map(clientIds.map((id, index) => [id, names[index] ?? id]));
    return {
      title: 'Devices',
      actions: <ButtonLink to="/device">Connect a device</ButtonLink>,
      messages: { ended: 'The access of the device has ended.' },
      rows: async () => ({
        data: devices,
        above: (
          <p>
            Programs that act for you. Access ends by itself after 15 minutes. End it now if you don’t know a
            program or no longer use it.
          </p>
        ),
      }),
      columns: [
        { title: 'Program', kind: 'main', cell: ({ userAgent }) => userAgent || 'Unknown' },
        {
          title: 'API client',
          kind: 'text',
          isOnDeskOnly: true,
          cell: ({ clientId, environment }) => (
            <span>
              {clientNames.get(clientId)} <span class={`environment ${environment}`}>{environment}</span>
              <br />
              <code>{clientId}</code>
            </span>
          ),
        },
        { title: 'IP address', kind: 'id', isOnDeskOnly: true, cell: ({ ip }) => ip },
        { title: 'Approved', kind: 'time', cell: ({ decidedAt }) => decidedAt },
        { title: 'Access ends', kind: 'time', cell: ({ redeemedAt }) => <End redeemedAt={redeemedAt} /> },
        {
          title: 'Actions',
          kind: 'buttons',
          cell: ({ id, userAgent }) => (
            <ActionButton action={PATH} fields={{ device: id }} of={`the access of ${userAgent}`}>
              End
            </ActionButton>
          ),
        },
      ],
      empty: {
        title: 'No device has access on your behalf',
        text: (
          <p>
            A program such as the command line tool <code>mcs</code> shows a code when it needs access. Enter
            the code to let it act for you for 15 minutes.
          </p>
        ),
      },
    };
  }

  @Post()
  @DashboardAction(ANY_USER)
  async end(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    await this.approvals.endAccess(actor, form.get('device') ?? '');
    return { redirectTo: `${PATH}?done=ended` };
  }
}

function End({ redeemedAt }: Pick<DeviceAccess, 'redeemedAt'>): VNode {
  if (!redeemedAt) return <>15 minutes after the program continues</>;
  return <Moment time={new Date(redeemedAt.getTime() + TOKEN_LIFETIME)} isInColumn />;
}
