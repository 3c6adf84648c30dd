import type { VNode } from 'preact';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  Details,
  Done,
  EmptyState,
  Form,
  FormProblem,
  Moment,
  RelativeTime,
  Table,
  TextArea,
  TextField,
  usePage,
  type Page,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { NEW_OPENID_PATH, OpenidConfigurations } from '../openid/openid-configurations.pages.js';
import type { SamlCertificateResponse, SamlConfigurationResponse } from './saml-configurations.dto.js';

const CONFIGURATIONS_PATH = '/dashboard/single-sign-on';
const CONFIGURATIONS = { title: 'Single sign-on', path: CONFIGURATIONS_PATH };
const NEW_PATH = `${CONFIGURATIONS_PATH}/configurations/new`;

export function configurationPath(id: string, ...action: readonly string[]): string {
  return [CONFIGURATIONS_PATH, encodeURIComponent(id), ...action].join('/');
}

function parentOf({ id, name }: SamlConfigurationResponse): NonNullable<Page['parent']> {
  return { title: name, path: configurationPath(id) };
}

export function configurationsPage(
  configurations: readonly SamlConfigurationResponse[],
  openidConfigurations: readonly SsoConfiguration[],
): Page {
  const isEmpty = configurations.length + openidConfigurations.length === 0;
  return {
    title: CONFIGURATIONS.title,
    actions: isEmpty ? null : <AddButtons />,
    content: isEmpty ? (
      <EmptyState title="No identity provider yet">
        <p>
          Let your users log in through your identity provider, such as Okta or Microsoft Entra ID, with
          OpenID Connect. You can also prepare a login with SAML 2.0, which does not work yet.
        </p>
        <AddButtons />
      </EmptyState>
    ) : (
      <>
        {openidConfigurations.length > 0 ? <OpenidConfigurations rows={openidConfigurations} /> : null}
        {configurations.length > 0 ? (
          <>
            <NotYet />
            <Table
              caption="Identity providers with SAML"
              rows={configurations}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', cell: ({ id, name }) => <a href={configurationPath(id)}>{name}</a> },
                { title: 'Status', cell: (configuration) => <Status configuration={configuration} /> },
                { title: 'Identity provider', cell: ({ entity_id: entityId }) => entityId },
                {
                  title: 'Certificate expires',
                  // Until its last certificate expires, the configuration can be used.
                  cell: ({ certificates }) =>
                    certificates
                      .toSorted((a, b) => b.valid_to.getTime() - a.valid_to.getTime())
                      .slice(0, 1)
                      .map((last) => <ValidUntil key="last" certificate={last} />),
                },
                { title: 'Added', cell: ({ created_at: createdAt }) => <RelativeTime time={createdAt} /> },
              ]}
            />
          </>
        ) : null}
      </>
    ),
  };
}

function NotYet(): VNode {
  return (
    <p>
      You can prepare single sign-on with SAML here. Users cannot log in with it yet: they keep using their
      passwords, also when a configuration is enabled.
    </p>
  );
}

function AddButtons(): VNode {
  return (
    <Allowed operation="createSamlConfiguration">
      <ButtonLink to={NEW_OPENID_PATH}>Add OpenID Connect</ButtonLink>{' '}
      <ButtonLink to={NEW_PATH} kind="second">
        Add SAML
      </ButtonLink>
    </Allowed>
  );
}

function Status({ configuration }: { readonly configuration: SamlConfigurationResponse }): VNode {
  return configuration.enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="soft">Disabled</Badge>;
}

const SOON = 30 * DAY;

function ValidUntil({ certificate }: { readonly certificate: SamlCertificateResponse }): VNode {
  const { now } = usePage();
  const end = certificate.valid_to;
  const left = end.getTime() - now.getTime();
  return (
    <span>
      <Moment time={end} />{' '}
      {left <= 0 ? <Badge tone="bad">Expired</Badge> : left < SOON ? <Badge tone="warn">Soon</Badge> : null}
    </span>
  );
}

export function configurationPage(configuration: SamlConfigurationResponse): Page {
  const { id, name, enabled } = configuration;
  return {
    title: name,
    parent: CONFIGURATIONS,
    actions: (
      <>
        <Allowed operation="updateSamlConfiguration">
          <ButtonLink to={configurationPath(id, 'change')} kind={enabled ? 'first' : 'second'}>
            Change
          </ButtonLink>
        </Allowed>
        <Allowed operation={enabled ? 'disableSamlConfiguration' : 'enableSamlConfiguration'}>
          <ButtonLink
            to={configurationPath(id, enabled ? 'disable' : 'enable')}
            kind={enabled ? 'second' : 'first'}
          >
            {enabled ? 'Disable' : 'Enable'}
          </ButtonLink>
        </Allowed>
      </>
    ),
    content: (
      <>
        <Done
          messages={{
            added: 'The identity provider was added. Compare the fingerprint, then enable it.',
            changed: 'The identity provider was changed.',
            enabled: 'The identity provider is enabled.',
            disabled: 'The identity provider is disabled.',
          }}
        />
        <NotYet />
        <Details
          entries={[
            ['Status', <Status key="status" configuration={configuration} />],
            ['Entity ID', configuration.entity_id],
            ['Login URL', configuration.sso_url],
            ['Added', <Moment key="added" time={configuration.created_at} />],
          ]}
        />
        <h2>Signing certificates</h2>
        <p>Compare the fingerprint with the one that your identity provider shows.</p>
        <Table
          caption="Signing certificates"
          rows={configuration.certificates}
          keyOf={({ sha256_fingerprint: fingerprint }) => fingerprint}
          columns={[
            { title: 'Subject', cell: ({ subject }) => subject },
            {
              title: 'SHA-256 fingerprint',
              cell: ({ sha256_fingerprint: fingerprint }) => <code>{fingerprint}</code>,
            },
            { title: 'Valid from', cell: ({ valid_from: from }) => <Moment time={from} /> },
            { title: 'Valid until', cell: (certificate) => <ValidUntil certificate={certificate} /> },
          ]}
        />
      </>
    ),
  };
}

export function newConfigurationPage(): Page {
  return {
    title: 'Add an identity provider',
    parent: CONFIGURATIONS,
    content: (
      <>
        <FormProblem />
        <p>It stays disabled until you enable it.</p>
        <Form action={NEW_PATH}>
          <TextField name="name" label="Name" hint="Your name for it, such as “Okta”" maxLength={256} />
          <TextArea
            name="metadata_xml"
            label="Metadata"
            hint="The whole XML of the SAML 2.0 metadata, from <EntityDescriptor to </EntityDescriptor>"
            rows={14}
          />
          <button>Add identity provider</button>
        </Form>
      </>
    ),
  };
}

export function changeConfigurationPage(configuration: SamlConfigurationResponse): Page {
  const { id, name } = configuration;
  return {
    title: `Change ${name}`,
    parent: parentOf(configuration),
    content: (
      <>
        <FormProblem />
        <Form action={configurationPath(id, 'change')}>
          <TextField name="name" label="Name" value={name} maxLength={256} />
          <TextArea
            name="metadata_xml"
            label="New metadata"
            hint="Leave it empty to keep the current metadata."
            rows={14}
            required={false}
          />
          <button>Save changes</button>
        </Form>
      </>
    ),
  };
}

export type ConfigurationAction = 'enable' | 'disable';

const ACTIONS: Readonly<Record<ConfigurationAction, { readonly word: string; readonly effect: string }>> = {
  enable: {
    word: 'Enable',
    effect: 'Only one identity provider can be enabled at a time. Disable the other one first.',
  },
  disable: { word: 'Disable', effect: 'The configuration stays, and you can enable it again.' },
};

export function confirmConfigurationPage(
  configuration: SamlConfigurationResponse,
  action: ConfigurationAction,
): Page {
  const { id, name } = configuration;
  const { word, effect } = ACTIONS[action];
  return confirmationPage({
    title: `${word} ${name}?`,
    parent: parentOf(configuration),
    action: configurationPath(id, action),
    button: `${word} identity provider`,
    isDestructive: action === 'disable',
    children: <p>{effect}</p>,
  });
}
