import { randomUUID } from 'node:crypto';
import type { VNode } from 'preact';
import {
  ActionButton,
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  confirmationPage,
  Details,
  Done,
  EmptyState,
  Form,
  FormProblem,
  Link,
  Moment,
  RelativeTime,
  Table,
  TextArea,
  TextField,
  usePage,
  type Page,
  isolated,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { maxLengthOf } from '../../../infrastructure/validation/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { SsoAttempt } from '../logins/sso-attempt.entity.js';
import {
  AddOpenidConfigurationRequest,
  ChangeOpenidConfigurationRequest,
} from '../openid/openid-configurations.dto.js';
import {
  AddSamlConfigurationRequest,
  ChangeSamlConfigurationRequest,
  certificateOf,
  certificatesOf,
  type SamlCertificateResponse,
} from '../saml/saml-configurations.dto.js';
import { SETTINGS_PATH } from '../settings/sso-settings.pages.js';
import type { SsoConfiguration } from './sso-configuration.entity.js';

const OVERVIEW = { title: 'Single sign-on', path: '/dashboard/single-sign-on' };
const NEW_SAML_PATH = `${OVERVIEW.path}/configurations/new`;
const NEW_OPENID_PATH = `${OVERVIEW.path}/configurations/new-openid`;
const PROTOCOLS = { saml: 'SAML', openid: 'OpenID Connect' } as const;

/** What a SAML provider must know about the service. */
export interface SamlAddresses {
  readonly metadataUrl: string;
  readonly address: string;
}

/** What the identity provider must know about the service: with OpenID Connect, or with SAML. */
type Ours = { readonly redirectUri: string } | (SamlAddresses & { readonly certificates: readonly string[] });

/** What the next step of the set-up depends on. */
interface SetUpState {
  readonly attempts: readonly SsoAttempt[];
  /** The domains that the organization has proved. */
  readonly proved: readonly string[];
  /** The enabled configuration of the organization. */
  readonly enabled: SsoConfiguration | undefined;
}

export function configurationPath(id: string, ...action: readonly string[]): string {
  return [OVERVIEW.path, encodeURIComponent(id), ...action].join('/');
}

function parentOf({ id, name }: SsoConfiguration): NonNullable<Page['parent']> {
  return { title: name, path: configurationPath(id) };
}

export function configurationsPage(configurations: readonly SsoConfiguration[]): Page {
  const isEmpty = configurations.length === 0;
  return {
    title: OVERVIEW.title,
    actions: isEmpty ? null : <AddButtons />,
    content: isEmpty ? (
      <EmptyState title="No identity provider yet">
        <p>
          Let your users log in through your identity provider, such as Okta or Microsoft Entra ID, with SAML
          2.0 or OpenID Connect. First, <a href="/dashboard/allowed-domains">prove the domain</a> of their
          email addresses.
        </p>
        <div class="actions">
          <AddButtons />
        </div>
      </EmptyState>
    ) : (
      <Table
        caption="Identity providers"
        rows={configurations}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', kind: 'main', cell: ({ name }) => name, to: ({ id }) => configurationPath(id) },
          {
            title: 'Status',
            kind: 'status',
            cell: (configuration) => <Status configuration={configuration} />,
          },
          { title: 'Protocol', kind: 'short', cell: ({ protocol }) => PROTOCOLS[protocol] },
          { title: 'Issuer', kind: 'text', cell: ({ entityId }) => entityId },
          {
            title: 'Certificate expires',
            kind: 'moment',
            // Until its last certificate expires, the configuration can be used.
            cell: (configuration) =>
              certificatesOf(configuration)
                .toSorted((a, b) => b.valid_to.getTime() - a.valid_to.getTime())
                .slice(0, 1)
                .map((last) => <ValidUntil key="last" certificate={last} />),
          },
          { title: 'Added', kind: 'time', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
        ]}
      />
    ),
  };
}

function AddButtons(): VNode {
  return (
    <Allowed operation="createSamlConfiguration">
      <ButtonLink to={SETTINGS_PATH} kind="second">
        Single sign-on settings
      </ButtonLink>
      <ButtonLink to={`${NEW_OPENID_PATH}?id=${randomUUID()}`}>Add OpenID Connect</ButtonLink>
      <ButtonLink to={`${NEW_SAML_PATH}?id=${randomUUID()}`} kind="second">
        Add SAML
      </ButtonLink>
    </Allowed>
  );
}

function Status({ configuration }: { readonly configuration: SsoConfiguration }): VNode {
  return configuration.enabledAt ? <Badge tone="good">Enabled</Badge> : <Badge tone="soft">Disabled</Badge>;
}

const SOON = 30 * DAY;

function ValidUntil({ certificate }: { readonly certificate: SamlCertificateResponse }): VNode {
  const { now } = usePage();
  const end = certificate.valid_to;
  const left = end.getTime() - now.getTime();
  return (
    <span>
      <Moment time={end} />{' '}
      {left <= 0 ? (
        <Badge tone="bad">Expired</Badge>
      ) : left < SOON ? (
        <Badge tone="warn">Expires soon</Badge>
      ) : null}
    </span>
  );
}

export function configurationPage(configuration: SsoConfiguration, ours: Ours, state: SetUpState): Page {
  const { id, name, enabledAt, testedAt } = configuration;
  const { attempts, proved } = state;
  return {
    title: name,
    parent: OVERVIEW,
    actions: (
      <>
        <Allowed operation="updateSamlConfiguration">
          <ButtonLink to={configurationPath(id, 'change')} kind="second">
            Change
          </ButtonLink>
        </Allowed>
        {enabledAt ? (
          <Allowed operation="disableSamlConfiguration">
            <ButtonLink to={configurationPath(id, 'disable')} kind="second">
              Disable
            </ButtonLink>
          </Allowed>
        ) : null}
      </>
    ),
    content: (
      <>
        <Done
          messages={{
            added: 'The identity provider was added. Register this service there, then test the login.',
            changed: 'The identity provider was changed.',
            enabled: 'Single sign-on is enabled.',
            disabled: 'Single sign-on is disabled. Users log in with their passwords.',
            'certificate-added':
              'The metadata contains a new certificate now. Register it at your identity provider.',
            'certificate-removed': 'The older certificate was removed.',
          }}
        />
        <FormProblem />
        <Details
          entries={[
            ['Status', <Status key="status" configuration={configuration} />],
            ['Protocol', PROTOCOLS[configuration.protocol]],
            ...detailsOf(configuration),
            ['Tested', testedAt ? <Moment key="tested" time={testedAt} /> : 'Not yet'],
          ]}
        />
        <ProveDomain proved={proved} />
        {'redirectUri' in ours ? (
          <>
            <h2>2. Register the redirect address</h2>
            <RedirectAddress redirectUri={ours.redirectUri} />
          </>
        ) : (
          <OurMetadata id={id} ours={ours} />
        )}
        <h2>3. Test the login</h2>
        <p>
          Log in at your identity provider to see what it sends, and who would be logged in. A test logs
          nobody in.
        </p>
        {proved.length === 0 ? (
          <p class="hint">You can test the login after you have proved a domain.</p>
        ) : (
          <Allowed operation="enableSamlConfiguration">
            <ActionButton action={configurationPath(id, 'test')}>Test login</ActionButton>
          </Allowed>
        )}
        <h2>4. Enable single sign-on</h2>
        <p>
          Users whose email addresses are in one of your proved domains are then sent to your identity
          provider. Passwords keep working unless you require single sign-on.
        </p>
        {enabledAt ? null : <Enable configuration={configuration} state={state} />}
        {configuration.protocol === 'saml' ? (
          <Certificates title="Certificates of the identity provider" rows={certificatesOf(configuration)} />
        ) : null}
        <h2>Last logins</h2>
        {attempts.length === 0 ? <p>Nobody has logged in yet.</p> : <Attempts rows={attempts} />}
      </>
    ),
  };
}

function ProveDomain({ proved }: Pick<SetUpState, 'proved'>): VNode {
  const path = '/dashboard/allowed-domains';
  return (
    <>
      <h2>1. Prove your domain</h2>
      {proved.length === 0 ? (
        <>
          <p>Only users with email addresses in a domain that you proved can log in.</p>
          <ButtonLink to={path}>Prove a domain</ButtonLink>
        </>
      ) : (
        <p>
          <Badge tone="good">Done</Badge> Users with email addresses in <a href={path}>{proved.join(', ')}</a>{' '}
          can log in.
        </p>
      )}
    </>
  );
}

interface EnableProps {
  readonly configuration: SsoConfiguration;
  readonly state: SetUpState;
}

/** Enables the identity provider, or says why that is not possible yet. */
function Enable({ configuration: { id, testedAt }, state: { enabled } }: EnableProps): VNode {
  if (enabled)
    return (
      <p class="hint">
        Only one identity provider can be enabled: first disable{' '}
        <a href={configurationPath(enabled.id)}>{enabled.name}</a>.
      </p>
    );
  if (!testedAt) return <p class="hint">You can enable it after a test login that succeeded.</p>;
  return (
    <Allowed operation="enableSamlConfiguration">
      <ButtonLink to={configurationPath(id, 'enable')}>Enable</ButtonLink>
    </Allowed>
  );
}

function detailsOf(configuration: SsoConfiguration): [string, VNode | string | null][] {
  const { protocol, entityId, ssoUrl, clientId, metadataUrl, metadataCheckedAt } = configuration;
  if (protocol === 'openid')
    return [
      ['Issuer', entityId],
      ['Client ID', clientId],
    ];
  return [
    ['Entity ID', entityId],
    ['Login URL', ssoUrl],
    ...(metadataUrl === null
      ? []
      : ([
          ['Metadata URL', metadataUrl],
          ['Metadata fetched', metadataCheckedAt && <Moment key="fetched" time={metadataCheckedAt} />],
        ] as [string, VNode | string | null][])),
  ];
}

function RedirectAddress({ redirectUri }: { readonly redirectUri: string }): VNode {
  return (
    <>
      <p>The application at your identity provider must redirect to this address:</p>
      <CodeBlock title="Redirect address" code={redirectUri} />
    </>
  );
}

function OurAddresses({ metadataUrl, address }: SamlAddresses): VNode {
  return (
    <>
      <CodeBlock title="Metadata URL, which is also the entity ID (audience)" code={metadataUrl} />
      <CodeBlock title="Address for responses (ACS URL)" code={address} />
    </>
  );
}

interface OurMetadataProps {
  readonly id: string;
  readonly ours: Extract<Ours, { readonly metadataUrl: string }>;
}

function OurMetadata({ id, ours }: OurMetadataProps): VNode {
  const { metadataUrl, certificates } = ours;
  return (
    <>
      <h2>2. Register this service</h2>
      <p>Give your identity provider the URL of our metadata, or enter the addresses there.</p>
      <OurAddresses {...ours} />
      <Link to={metadataUrl}>Download the metadata</Link>
      <Certificates
        title="Our certificates"
        rows={certificates.flatMap((encoded) => certificateOf(encoded))}
      />
      <Allowed operation="updateSamlConfiguration">
        {certificates.length === 1 ? (
          <ActionButton action={configurationPath(id, 'certificates', 'add')}>
            Add a new certificate
          </ActionButton>
        ) : (
          <ButtonLink to={configurationPath(id, 'certificates', 'remove')} kind="second">
            Remove the older certificate
          </ButtonLink>
        )}
      </Allowed>
    </>
  );
}

interface CertificatesProps {
  readonly title: string;
  readonly rows: readonly SamlCertificateResponse[];
}

function Certificates({ title, rows }: CertificatesProps): VNode {
  return (
    <>
      <h2>{title}</h2>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ sha256_fingerprint: fingerprint }) => fingerprint}
        columns={[
          { title: 'Subject', kind: 'main', cell: ({ subject }) => subject },
          {
            title: 'SHA-256 fingerprint',
            kind: 'text',
            cell: ({ sha256_fingerprint: fingerprint }) => <code>{fingerprint}</code>,
          },
          { title: 'Valid from', kind: 'moment', cell: ({ valid_from: from }) => <Moment time={from} /> },
          {
            title: 'Valid until',
            kind: 'moment',
            cell: (certificate) => <ValidUntil certificate={certificate} />,
          },
        ]}
      />
    </>
  );
}

function Attempts({ rows }: { readonly rows: readonly SsoAttempt[] }): VNode {
  return (
    <Table
      caption="Last logins"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Time',
          kind: 'moment',
          cell: ({ finishedAt, createdAt }) => <Moment time={finishedAt ?? createdAt} />,
        },
        { title: 'Email address', kind: 'user', cell: ({ email }) => email ?? 'Unknown' },
        { title: 'Kind', kind: 'short', cell: ({ testerId }) => (testerId === null ? 'Login' : 'Test') },
        {
          title: 'Outcome',
          kind: 'status',
          cell: ({ problem }) =>
            problem === null ? <Badge tone="good">Succeeded</Badge> : <Badge tone="bad">Failed</Badge>,
        },
        { title: 'Reason', kind: 'main', cell: ({ problem }) => problem ?? '' },
      ]}
    />
  );
}

export function newSamlPage(id: string, ours: SamlAddresses): Page {
  return {
    title: 'Add an identity provider with SAML',
    parent: OVERVIEW,
    content: (
      <>
        <FormProblem />
        <p>Create an application at your identity provider, with these addresses of this service:</p>
        <OurAddresses {...ours} />
        <p>
          Then enter the URL of its metadata, or paste the metadata. The identity provider stays disabled
          until you enable it.
        </p>
        <Form action={NEW_SAML_PATH}>
          <input type="hidden" name="id" value={id} />
          <TextField
            name="name"
            label="Name"
            hint="Your name for it, such as “Okta”"
            maxLength={maxLengthOf(AddSamlConfigurationRequest, 'name')}
          />
          <MetadataFields />
          <SubmitButton>Add identity provider</SubmitButton>
        </Form>
      </>
    ),
  };
}

function MetadataFields({ metadataUrl }: { readonly metadataUrl?: string | undefined }): VNode {
  return (
    <>
      <TextField
        name="metadata_url"
        label="Metadata URL"
        type="url"
        value={metadataUrl}
        hint="The metadata is fetched now, and again every day, so that new certificates are known in time."
        required={false}
        maxLength={maxLengthOf(AddSamlConfigurationRequest, 'metadata_url')}
      />
      <TextArea
        name="metadata_xml"
        label="Metadata"
        hint="Instead of the URL: the whole XML of the SAML 2.0 metadata, from <EntityDescriptor to </EntityDescriptor>"
        rows={10}
        required={false}
      />
    </>
  );
}

export function newOpenidPage(id: string, redirectUri: string): Page {
  return {
    title: 'Add an identity provider with OpenID Connect',
    parent: OVERVIEW,
    content: (
      <>
        <FormProblem />
        <p>Create an application of the type “web” at your identity provider.</p>
        <RedirectAddress redirectUri={redirectUri} />
        <p>Then enter what it shows. The identity provider stays disabled until you enable it.</p>
        <Form action={NEW_OPENID_PATH}>
          <input type="hidden" name="id" value={id} />
          <TextField
            name="name"
            label="Name"
            hint="Your name for it, such as “Okta”"
            maxLength={maxLengthOf(AddOpenidConfigurationRequest, 'name')}
          />
          <TextField
            name="issuer"
            label="Issuer"
            type="url"
            hint="Such as https://login.example.com. Its discovery document is fetched."
            maxLength={maxLengthOf(AddOpenidConfigurationRequest, 'issuer')}
          />
          <TextField
            name="client_id"
            label="Client ID"
            maxLength={maxLengthOf(AddOpenidConfigurationRequest, 'client_id')}
          />
          <TextField
            name="client_secret"
            label="Client secret"
            type="password"
            hint="Leave it empty for a public client."
            required={false}
            maxLength={maxLengthOf(AddOpenidConfigurationRequest, 'client_secret')}
          />
          <SubmitButton>Add identity provider</SubmitButton>
        </Form>
      </>
    ),
  };
}

export function changePage(configuration: SsoConfiguration): Page {
  const { id, name, protocol, metadataUrl } = configuration;
  return {
    title: `Change ${isolated(name)}`,
    parent: parentOf(configuration),
    content: (
      <>
        <FormProblem />
        <Form action={configurationPath(id, 'change')}>
          <TextField
            name="name"
            label="Name"
            value={name}
            maxLength={maxLengthOf(ChangeSamlConfigurationRequest, 'name')}
          />
          {protocol === 'saml' ? (
            <>
              <p>Leave both fields empty to keep the current metadata.</p>
              <MetadataFields metadataUrl={metadataUrl ?? undefined} />
            </>
          ) : (
            <TextField
              name="client_secret"
              label="New client secret"
              type="password"
              hint="Leave it empty to keep the current secret."
              required={false}
              maxLength={maxLengthOf(ChangeOpenidConfigurationRequest, 'client_secret')}
            />
          )}
          <SubmitButton>Save changes</SubmitButton>
        </Form>
      </>
    ),
  };
}

export type Confirmed = 'enable' | 'disable' | 'remove-certificate';

const CONFIRMATIONS: Readonly<
  Record<
    Confirmed,
    {
      readonly path: readonly string[];
      readonly title: string;
      readonly button: string;
      readonly effect: string;
    }
  >
> = {
  enable: {
    path: ['enable'],
    title: 'Enable',
    button: 'Enable single sign-on',
    effect:
      'Users whose email addresses are in your proved domains are sent to this identity provider when they log in. Only one identity provider can be enabled at a time.',
  },
  disable: {
    path: ['disable'],
    title: 'Disable',
    button: 'Disable single sign-on',
    effect:
      'Users log in with their passwords. Existing sessions continue. You can enable single sign-on again.',
  },
  'remove-certificate': {
    path: ['certificates', 'remove'],
    title: 'Remove the older certificate of',
    button: 'Remove the older certificate',
    effect:
      'Make sure that the identity provider knows the new certificate: requests are signed with it from now on, and assertions that are encrypted with the older one are refused.',
  },
};

export function confirmPage(configuration: SsoConfiguration, action: Confirmed): Page {
  const { id, name } = configuration;
  const { path, title, button, effect } = CONFIRMATIONS[action];
  return confirmationPage({
    title: `${title} ${isolated(name)}?`,
    parent: parentOf(configuration),
    action: configurationPath(id, ...path),
    button,
    isDestructive: action !== 'enable',
    children: <p>{effect}</p>,
  });
}
