import { randomUUID } from 'node:crypto';
import { Controller, Get, Inject, Post } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { VNode } from 'preact';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  ActionButton,
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  DashboardAction,
  DashboardPage,
  Details,
  FormPage,
  FormProblem,
  HiddenField,
  isolated,
  Link,
  ListPage,
  Moment,
  submitted,
  Table,
  TextArea,
  TextField,
  usePage,
  Visit,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { continuePage, loginBrowserOf } from '../../dashboard-login/index.js';
import type { SsoAttempt } from '../logins/sso-attempt.entity.js';
import { SsoLoginsService } from '../logins/sso-logins.service.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';
import { readCertificate, type SigningCertificate } from '../saml/saml-metadata.js';
import { SamlProvider } from '../saml/saml-provider.js';
import { SSO_SETTINGS_PATH } from '../settings/sso-settings.pages.js';
import {
  AddOpenidConfigurationRequest,
  AddSamlConfigurationRequest,
  ChangeConfigurationRequest,
} from './sso-configurations.dto.js';
import type { SsoConfiguration } from './sso-configuration.entity.js';
import { SsoConfigurationsService } from './sso-configurations.service.js';

const OVERVIEW = { title: 'Single sign-on', path: '/dashboard/single-sign-on' };
const PROTOCOLS = { saml: 'SAML', openid: 'OpenID Connect' } as const;
/** For the longest metadata that the operations accept, in which each character may take three bytes. */
const WITH_METADATA = { limit: 1_048_576 };

export function configurationPath(id: string, ...action: readonly string[]): string {
  return [OVERVIEW.path, encodeURIComponent(id), ...action].join('/');
}

@Controller('dashboard/single-sign-on')
class ConfigurationsPage extends ListPage('listSamlConfigurations') {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly domains!: AllowlistedDomainsService;

  async describe({ actor }: PageVisit): Promise<ListDescription<SsoConfiguration>> {
    const domains = await this.domains.list(actor);
    return {
      title: OVERVIEW.title,
      actions: (
        <Allowed operation="createSamlConfiguration">
          <ButtonLink to={SSO_SETTINGS_PATH} kind="second">
            Single sign-on settings
          </ButtonLink>
          <ButtonLink to={`${OVERVIEW.path}/configurations/new?id=${randomUUID()}`} kind="second">
            Add SAML
          </ButtonLink>
          <ButtonLink to={`${OVERVIEW.path}/configurations/new-openid?id=${randomUUID()}`}>
            Add OpenID Connect
          </ButtonLink>
        </Allowed>
      ),
      rows: async () => ({ data: await this.configurations.list(actor) }),
      caption: 'Identity providers',
      columns: [
        { title: 'Name', kind: 'main', cell: ({ name }) => name, to: ({ id }) => configurationPath(id) },
        { title: 'Status', kind: 'status', cell: statusOf },
        { title: 'Protocol', kind: 'short', cell: ({ protocol }) => PROTOCOLS[protocol] },
        { title: 'Issuer', kind: 'text', cell: ({ entityId }) => entityId },
        {
          title: 'Certificate expires',
          kind: 'moment',
          // Until its last certificate expires, the configuration can be used.
          cell: (configuration) =>
            readCertificates(configuration.certificates)
              .toSorted((a, b) => b.validTo.getTime() - a.validTo.getTime())
              .slice(0, 1)
              .map((last) => <ValidUntil key="last" certificate={last} />),
        },
        { title: 'Added', kind: 'time', cell: ({ createdAt }) => createdAt },
      ],
      empty: {
        title: 'No identity provider yet',
        text: (
          <p>
            Let your users log in through your identity provider, such as Okta or Microsoft Entra ID, with
            SAML 2.0 or OpenID Connect. First, <a href={provePath(domains)}>prove the domain</a> of their
            email addresses.
          </p>
        ),
      },
    };
  }
}

function statusOf({ enabledAt }: SsoConfiguration): VNode {
  return enabledAt ? <Badge tone="good">Enabled</Badge> : <Badge tone="soft">Disabled</Badge>;
}

const SOON = 30 * DAY;

function ValidUntil({ certificate }: { readonly certificate: SigningCertificate }): VNode {
  const { now } = usePage();
  const end = certificate.validTo;
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

@Controller('dashboard/single-sign-on/:id')
class ConfigurationPage {
  constructor(
    private readonly configurations: SsoConfigurationsService,
    private readonly logins: SsoLoginsService,
    private readonly openid: OpenidProvider,
    private readonly saml: SamlProvider,
    private readonly keys: SamlKeysService,
    private readonly domains: AllowlistedDomainsService,
  ) {}

  @Get()
  @DashboardPage('getSamlConfiguration')
  async show(@Visit() { actor, params: { id } }: PageVisit<'id'>): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    const domains = await this.domains.list(actor);
    const state = {
      attempts: await this.logins.listAttempts(id),
      proved: domains.flatMap(({ domain, provedAt }) => (provedAt ? [domain] : [])),
      provePath: provePath(domains),
      enabled: (await this.configurations.list(actor)).find(({ enabledAt }) => enabledAt !== null),
    };
    if (configuration.protocol === 'openid')
      return configurationPage(configuration, { redirectUri: this.openid.address(id) }, state);
    const certificates = (await this.keys.keysOf(id)).map(({ certificate }) => certificate);
    return configurationPage(configuration, { ...this.saml.addresses(id), certificates }, state);
  }

  @Post('test')
  @DashboardAction('enableSamlConfiguration')
  async test(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { actor, params, request } = visit;
    const configuration = await this.configurations.get(actor, params.id);
    return submitted(
      async () => {
        const begun = await this.logins.beginTest(configuration, actor, loginBrowserOf(request));
        if ('problem' in begun) throw INVALID_FIELD.error(begun.problem);
        return continuePage(begun);
      },
      () => this.show(visit),
    );
  }

  @Post('certificates/add')
  @DashboardAction('updateSamlConfiguration')
  async addCertificate(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { actor, params } = visit;
    const configuration = await this.configurations.get(actor, params.id);
    return submitted(
      async () => {
        await this.configurations.beginRollover(actor, configuration);
        return { redirectTo: `${configurationPath(params.id)}?done=certificate-added` };
      },
      () => this.show(visit),
    );
  }
}

/** What the identity provider must know about the service: with OpenID Connect, or with SAML. */
type Ours =
  { readonly redirectUri: string } | (OurAddressesProps & { readonly certificates: readonly string[] });

/** What the next step of the set-up depends on. */
interface SetUpState {
  readonly attempts: readonly SsoAttempt[];
  readonly proved: readonly string[];
  readonly provePath: string;
  /** The enabled configuration of the organization. */
  readonly enabled: SsoConfiguration | undefined;
}

function configurationPage(configuration: SsoConfiguration, ours: Ours, state: SetUpState): Page {
  const { id, name, enabledAt, testedAt } = configuration;
  const { attempts, proved } = state;
  return {
    title: name,
    parent: OVERVIEW,
    actions: (
      <>
        <ButtonLink operation="updateSamlConfiguration" to={configurationPath(id, 'change')} kind="second">
          Change
        </ButtonLink>
        {enabledAt ? (
          <ButtonLink
            operation="disableSamlConfiguration"
            to={configurationPath(id, 'disable')}
            kind="second"
          >
            Disable
          </ButtonLink>
        ) : null}
      </>
    ),
    messages: {
      added: 'The identity provider was added. Register this service there, then test the login.',
      changed: 'The identity provider was changed.',
      enabled: 'Single sign-on is enabled.',
      disabled: 'Single sign-on is disabled. Users log in with their passwords.',
      'certificate-added':
        'The metadata contains a new certificate now. Register it at your identity provider.',
      'certificate-removed': 'The older certificate was removed.',
    },
    content: (
      <>
        <FormProblem />
        <Details
          entries={[
            ['Status', statusOf(configuration)],
            ['Protocol', PROTOCOLS[configuration.protocol]],
            ...detailsOf(configuration),
            ['Tested', testedAt ? <Moment key="tested" time={testedAt} /> : 'Not yet'],
          ]}
        />
        {proveDomain(state)}
        {'redirectUri' in ours ? (
          <>
            <h2>2. Register the redirect address</h2>
            <RedirectAddress redirectUri={ours.redirectUri} />
          </>
        ) : (
          ourMetadata(id, ours)
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
        {enabledAt ? null : enableOrReason(configuration, state.enabled)}
        {configuration.protocol === 'saml'
          ? certificateTable('Certificates of the identity provider', configuration.certificates)
          : null}
        <h2>Last logins</h2>
        {attempts.length === 0 ? <p>Nobody has logged in yet.</p> : attemptTable(attempts)}
      </>
    ),
  };
}

const DOMAINS_PATH = '/dashboard/allowed-domains';

function provePath(domains: readonly object[]): string {
  return domains.length === 0 ? `${DOMAINS_PATH}/new?purpose=proof` : DOMAINS_PATH;
}

function proveDomain({ proved, provePath: path }: SetUpState): VNode {
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
          <Badge tone="good">Done</Badge> Users with email addresses in{' '}
          <a href={DOMAINS_PATH}>{proved.join(', ')}</a> can log in.
        </p>
      )}
    </>
  );
}

/** Enables the identity provider, or says why that is not possible yet. @param enabled of the organization */
function enableOrReason({ id, testedAt }: SsoConfiguration, enabled: SsoConfiguration | undefined): VNode {
  if (enabled)
    return (
      <p class="hint">
        Only one identity provider can be enabled: first disable{' '}
        <a href={configurationPath(enabled.id)}>{enabled.name}</a>.
      </p>
    );
  if (!testedAt) return <p class="hint">You can enable it after a test login that succeeded.</p>;
  return (
    <ButtonLink operation="enableSamlConfiguration" to={configurationPath(id, 'enable')}>
      Enable
    </ButtonLink>
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

/** What a SAML provider must know about the service. */
interface OurAddressesProps {
  readonly metadataUrl: string;
  readonly address: string;
}

function OurAddresses({ metadataUrl, address }: OurAddressesProps): VNode {
  return (
    <>
      <CodeBlock title="Metadata URL, which is also the entity ID (audience)" code={metadataUrl} />
      <CodeBlock title="Address for responses (ACS URL)" code={address} />
    </>
  );
}

function ourMetadata(id: string, ours: Extract<Ours, { readonly metadataUrl: string }>): VNode {
  const { metadataUrl, certificates } = ours;
  return (
    <>
      <h2>2. Register this service</h2>
      <p>Give your identity provider the URL of our metadata, or enter the addresses there.</p>
      <OurAddresses {...ours} />
      <Link to={metadataUrl}>Download the metadata</Link>
      {certificateTable('Our certificates', certificates)}
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

/** @param encoded DER in base64 */
function readCertificates(encoded: readonly string[]): SigningCertificate[] {
  return encoded.flatMap((each) => readCertificate(each) ?? []);
}

/** @param encoded DER in base64 */
function certificateTable(title: string, encoded: readonly string[]): VNode {
  return (
    <>
      <h2>{title}</h2>
      <Table
        caption={title}
        rows={readCertificates(encoded)}
        keyOf={({ fingerprint }) => fingerprint}
        columns={[
          { title: 'Subject', kind: 'main', cell: ({ subject }) => subject },
          {
            title: 'SHA-256 fingerprint',
            kind: 'text',
            cell: ({ fingerprint }) => <code>{fingerprint}</code>,
          },
          { title: 'Valid from', kind: 'moment', cell: ({ validFrom }) => validFrom },
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

function attemptTable(rows: readonly SsoAttempt[]): VNode {
  return (
    <Table
      caption="Last logins"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Time', kind: 'moment', cell: ({ finishedAt, createdAt }) => finishedAt ?? createdAt },
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

/** Returns the ID of the new configuration, which the address has, so that a reload shows the same addresses. */
function idIn({ form, query }: PageVisit): string {
  const wanted = form.get('id') ?? query['id'];
  return isUUID(wanted) ? String(wanted).toLowerCase() : randomUUID();
}

@Controller('dashboard/single-sign-on/configurations/new')
class NewSamlPage extends FormPage('createSamlConfiguration', AddSamlConfigurationRequest, WITH_METADATA) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly saml!: SamlProvider;

  describe(visit: PageVisit): FormDescription<AddSamlConfigurationRequest> {
    const id = idIn(visit);
    return {
      title: 'Add an identity provider with SAML',
      parent: OVERVIEW,
      text: (
        <>
          <p>Create an application at your identity provider, with these addresses of this service:</p>
          <OurAddresses {...this.saml.addresses(id)} />
          <p>
            Then enter the URL of its metadata, or paste the metadata. The identity provider stays disabled
            until you enable it.
          </p>
        </>
      ),
      values: { id },
      fields: (
        <>
          <HiddenField name="id" />
          <TextField name="name" label="Name" hint="Your name for it, such as “Okta”" />
          <MetadataFields />
        </>
      ),
      button: 'Add identity provider',
      perform: async (request) => added(await this.configurations.addSaml(visit.actor, request)),
    };
  }
}

function added({ id }: SsoConfiguration): PageResponse {
  return { redirectTo: `${configurationPath(id)}?done=added` };
}

function MetadataFields(): VNode {
  return (
    <>
      <TextField
        name="metadata_url"
        label="Metadata URL"
        hint="The metadata is fetched now, and again every day, so that new certificates are known in time."
      />
      <TextArea
        name="metadata_xml"
        label="Metadata"
        hint="Instead of the URL: the whole XML of the SAML 2.0 metadata, from <EntityDescriptor to </EntityDescriptor>"
        rows={10}
      />
    </>
  );
}

@Controller('dashboard/single-sign-on/configurations/new-openid')
class NewOpenidPage extends FormPage('createSamlConfiguration', AddOpenidConfigurationRequest) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly openid!: OpenidProvider;

  describe(visit: PageVisit): FormDescription<AddOpenidConfigurationRequest> {
    const id = idIn(visit);
    return {
      title: 'Add an identity provider with OpenID Connect',
      parent: OVERVIEW,
      text: (
        <>
          <p>Create an application of the type “web” at your identity provider.</p>
          <RedirectAddress redirectUri={this.openid.address(id)} />
          <p>Then enter what it shows. The identity provider stays disabled until you enable it.</p>
        </>
      ),
      values: { id },
      fields: (
        <>
          <HiddenField name="id" />
          <TextField name="name" label="Name" hint="Your name for it, such as “Okta”" />
          <TextField
            name="issuer"
            label="Issuer"
            hint="Such as https://login.example.com. Its discovery document is fetched."
          />
          <TextField name="client_id" label="Client ID" />
          <TextField
            name="client_secret"
            label="Client secret"
            type="password"
            hint="Leave it empty for a public client."
          />
        </>
      ),
      button: 'Add identity provider',
      perform: async (request) => added(await this.configurations.addOpenid(visit.actor, request)),
    };
  }
}

@Controller('dashboard/single-sign-on/:id/change')
class ChangePage extends FormPage('updateSamlConfiguration', ChangeConfigurationRequest, WITH_METADATA) {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({
    actor,
    params: { id },
  }: PageVisit<'id'>): Promise<FormDescription<ChangeConfigurationRequest>> {
    const configuration = await this.configurations.get(actor, id);
    const { name, protocol, metadataUrl } = configuration;
    return {
      title: `Change ${isolated(name)}`,
      parent: { title: name, path: configurationPath(id) },
      version: { Name: name, ...(protocol === 'saml' && { 'Metadata URL': metadataUrl ?? 'none' }) },
      values: { name, metadata_url: metadataUrl },
      fields: (
        <>
          <TextField name="name" label="Name" required />
          {protocol === 'saml' ? (
            <>
              <p>Leave both fields empty to keep the current metadata.</p>
              <MetadataFields />
            </>
          ) : (
            <TextField
              name="client_secret"
              label="New client secret"
              type="password"
              hint="Leave it empty to keep the current secret."
            />
          )}
        </>
      ),
      button: 'Save changes',
      perform: (request) => this.configurations.change(actor, configuration, request),
      next: `${configurationPath(id)}?done=changed`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/enable')
class EnablePage extends ConfirmPage('enableSamlConfiguration') {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Enable ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      text: 'Users whose email addresses are in your proved domains are sent to this identity provider when they log in. Only one identity provider can be enabled at a time.',
      button: 'Enable single sign-on',
      isDestructive: false,
      perform: () => this.configurations.enable(actor, id),
      next: `${configurationPath(id)}?done=enabled`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/disable')
class DisablePage extends ConfirmPage('disableSamlConfiguration') {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Disable ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      text: 'Users log in with their passwords. Existing sessions continue. You can enable single sign-on again.',
      button: 'Disable single sign-on',
      perform: () => this.configurations.disable(actor, id),
      next: `${configurationPath(id)}?done=disabled`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/certificates/remove')
class RemoveCertificatePage extends ConfirmPage('updateSamlConfiguration') {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Remove the older certificate of ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      text: 'Make sure that the identity provider knows the new certificate: requests are signed with it from now on, and assertions that are encrypted with the older one are refused.',
      button: 'Remove the older certificate',
      perform: () => this.configurations.endRollover(actor, configuration),
      next: `${configurationPath(id)}?done=certificate-removed`,
    };
  }
}

export const SSO_CONFIGURATION_PAGES = [
  ConfigurationsPage,
  ConfigurationPage,
  NewSamlPage,
  NewOpenidPage,
  ChangePage,
  EnablePage,
  DisablePage,
  RemoveCertificatePage,
];
