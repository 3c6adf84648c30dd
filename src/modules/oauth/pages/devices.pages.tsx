import type { VNode } from 'preact';
import {
  ActionButton,
  ButtonLink,
  Done,
  EmptyState,
  RelativeTime,
  Table,
  type Page,
} from '../../../infrastructure/pages/index.js';
import type { DeviceAccess } from '../authorizations/device-authorizations.repository.js';
import { TOKEN_LIFETIME } from '../tokens/tokens.entity.js';

export const DEVICES_PATH = '/dashboard/devices';

/** @param clientNames by client ID */
export function devicesPage(
  devices: readonly DeviceAccess[],
  clientNames: ReadonlyMap<string, string>,
): Page {
  return {
    title: 'Devices',
    actions: devices.length === 0 ? null : <ConnectButton />,
    content: (
      <>
        <Done messages={{ ended: 'The access of the device has ended.' }} />
        {devices.length === 0 ? (
          <EmptyState title="No device has access on your behalf">
            <p>
              A program such as the command line tool <code>mcs</code> shows a code when it needs access.
              Enter the code to let it act for you for 15 minutes.
            </p>
            <ConnectButton />
          </EmptyState>
        ) : (
          <>
            <p>
              Programs that act for you. Access ends by itself after 15 minutes. End it now if you don’t know
              a program or no longer use it.
            </p>
            <Table
              caption="Devices"
              rows={devices}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Program', kind: 'main', cell: ({ userAgent }) => userAgent || 'Unknown' },
                {
                  title: 'API client',
                  kind: 'text',
                  cell: ({ clientId, environment }) => (
                    <span>
                      {clientNames.get(clientId)}{' '}
                      <span class={`environment ${environment}`}>{environment}</span>
                      <br />
                      <code>{clientId}</code>
                    </span>
                  ),
                },
                { title: 'IP address', kind: 'id', cell: ({ ip }) => ip },
                {
                  title: 'Approved',
                  kind: 'time',
                  cell: ({ decidedAt }) => <RelativeTime time={decidedAt} />,
                },
                {
                  title: 'Access ends',
                  kind: 'moment',
                  cell: ({ redeemedAt }) => <End redeemedAt={redeemedAt} />,
                },
                {
                  title: 'Actions',
                  kind: 'buttons',
                  cell: ({ id, userAgent }) => (
                    <ActionButton
                      action={DEVICES_PATH}
                      fields={{ device: id }}
                      of={`the access of ${userAgent}`}
                    >
                      End
                    </ActionButton>
                  ),
                },
              ]}
            />
          </>
        )}
      </>
    ),
  };
}

function ConnectButton(): VNode {
  return <ButtonLink to="/device">Connect a device</ButtonLink>;
}

function End({ redeemedAt }: Pick<DeviceAccess, 'redeemedAt'>): VNode {
  if (!redeemedAt) return <>15 minutes after the program continues</>;
  return <RelativeTime time={new Date(redeemedAt.getTime() + TOKEN_LIFETIME)} />;
}
