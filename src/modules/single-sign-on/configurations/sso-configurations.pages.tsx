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
  Moment,
  submitted,
  Table,
  TextArea,
  TextField,
  usePage,
  Visit,
  type Confirmation,
  type FormDescription,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { continuePage, loginBrowserOf } from '../../dashboard-login/index.js';
import type { SsoAttempt } from '../sso-attempt.entity.js';
import { configurationPath, SSO_OVERVIEW } from '../configuration-path.js';
import { fingerprintsOf, readCertificates, trustOf } from '../logins/provider-trust.js';
import { SsoLoginsService } from '../logins/sso-logins.service.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';
import type { SigningCertificate } from '../saml/saml-metadata.js';
import { SamlProvider } from '../saml/saml-provider.js';
import {
  AddOpenidConfigurationRequest,
  AddSamlConfigurationRequest,
  ChangeConfigurationRequest,
} from './sso-configurations.dto.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import { SsoConfigurationsService } from './sso-configurations.service.js';
import { SSO_PERMISSIONS } from '../single-sign-on.capability.js';

export const PROTOCOLS = { saml: 'SAML', openid: 'OpenID Connect' } as const;
/** For the longest metadata that the operations accept, in which each character may take three bytes. */
const WITH_METADATA = { limit: 1_048_576 };

export function statusOf({ enabledAt }: SsoConfiguration): VNode {
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

/** Returns until when the provider can be used: the end of its last certificate; null if it has none. */
export function certificateEnd({ certificates }: SsoConfiguration): VNode | null {
  const [last] = readCertificates(certificates).toSorted((a, b) => b.validTo.getTime() - a.validTo.getTime());
  return last ? <ValidUntil certificate={last} /> : null;
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
  @DashboardPage(SSO_PERMISSIONS.getSsoConfiguration)
  async show(@Visit() { actor, params: { id } }: PageVisit<'id'>): Promise<PageResponse> {
    const configuration = await this.configurations.get(actor, id);
    const domains = await this.domains.list(actor);
    const state = {
      attempts: await this.logins.listAttempts(id),
      isProved: domains.some(({ provedAt }) => provedAt !== null),
      enabled: (await this.configurations.list(actor)).find(({ enabledAt }) => enabledAt !== null),
    };
    if (configuration.protocol === 'openid')
      return configurationPage(configuration, { redirectUri: this.openid.address(id) }, state);
    const certificates = (await this.keys.keysOf(id)).map(({ certificate }) => certificate);
    return configurationPage(configuration, { ...this.saml.addresses(id), certificates }, state);
  }

  @Post('test')
  @DashboardAction(SSO_PERMISSIONS.enableSsoConfiguration)
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
  @DashboardAction(SSO_PERMISSIONS.updateSsoConfiguration)
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

/** The properties of the service that the identity provider must know: with OpenID Connect, or with SAML. */
type Ours =
  { readonly redirectUri: string } | (OurAddressesProps & { readonly certificates: readonly string[] });

interface SetUpState {
  readonly attempts: readonly SsoAttempt[];
  /** Whether the organization has proved a domain. */
  readonly isProved: boolean;
  /** The enabled configuration of the organization. */
  readonly enabled: SsoConfiguration | undefined;
}

function configurationPage(configuration: SsoConfiguration, ours: Ours, state: SetUpState): Page {
  const { id, name, enabledAt, testedAt } = configuration;
  const { attempts, isProved } = state;
  return {
    title: name,
    parent: SSO_OVERVIEW,
    actions: (
      <>
        <ButtonLink
          permission={SSO_PERMISSIONS.updateSsoConfiguration}
          to={configurationPath(id, 'change')}
          kind="second"
        >
          Change
        </ButtonLink>
        {enabledAt ? (
          <ButtonLink
            permission={SSO_PERMISSIONS.disableSsoConfiguration}
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
      changed: 'The identity provider was changed. If “Tested” says “Not yet”, test the login again.',
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
        {'redirectUri' in ours ? (
          <>
            <h2>Redirect address</h2>
            <RedirectAddress redirectUri={ours.redirectUri} />
          </>
        ) : (
          ourMetadata(id, ours)
        )}
        <h2>Test the login</h2>
        {isProved ? (
          <Allowed permission={SSO_PERMISSIONS.enableSsoConfiguration}>
            <ActionButton action={configurationPath(id, 'test')}>Test login</ActionButton>
          </Allowed>
        ) : (
          <p class="hint">
            You can test the login after you have <a href={SSO_OVERVIEW.path}>proved a domain</a>.
          </p>
        )}
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
    <ButtonLink permission={SSO_PERMISSIONS.enableSsoConfiguration} to={configurationPath(id, 'enable')}>
      Enable
    </ButtonLink>
  );
}

function detailsOf(configuration: SsoConfiguration): [string, VNode | string | null][] {
  const { metadataUrl, metadataCheckedAt } = configuration;
  // The page has a table of the certificates.
  const { Name: _name, Certificates: _certificates, ...trust } = trustOf(configuration);
  const fetched = metadataUrl === null ? null : metadataCheckedAt;
  return [...Object.entries(trust), ['Metadata fetched', fetched && <Moment key="fetched" time={fetched} />]];
}

export function RedirectAddress({ redirectUri }: { readonly redirectUri: string }): VNode {
  return (
    <>
      <p>The application at your identity provider must redirect to this address:</p>
      <CodeBlock title="Redirect address" code={redirectUri} />
    </>
  );
}

/** The addresses of the service that a SAML provider must know. */
interface OurAddressesProps {
  readonly metadataUrl: string;
  readonly address: string;
}

export function OurAddresses({ metadataUrl, address }: OurAddressesProps): VNode {
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
      <h2>Register this service</h2>
      <p>Give your identity provider the URL of our metadata, or enter the addresses there.</p>
      <OurAddresses {...ours} />
      <Link to={metadataUrl}>Download the metadata</Link>
      {certificateTable('Our certificates', certificates)}
      <Allowed permission={SSO_PERMISSIONS.updateSsoConfiguration}>
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
            isOnDeskOnly: true,
            cell: ({ fingerprint }) => <code>{fingerprint}</code>,
          },
          { title: 'Valid from', kind: 'time', cell: ({ validFrom }) => validFrom },
          {
            title: 'Valid until',
            kind: 'text',
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
        { title: 'Time', kind: 'time', cell: ({ finishedAt, createdAt }) => finishedAt ?? createdAt },
        { title: 'Email address', kind: 'main', cell: ({ email }) => email ?? 'Unknown' },
        {
          title: 'Kind',
          kind: 'word',
          isOnDeskOnly: true,
          cell: ({ testerId }) => (testerId === null ? 'Login' : 'Test'),
        },
        {
          title: 'Outcome',
          kind: 'state',
          cell: ({ problem }) =>
            problem === null ? <Badge tone="good">Succeeded</Badge> : <Badge tone="bad">Failed</Badge>,
        },
        { title: 'Reason', kind: 'text', cell: ({ problem }) => problem ?? '' },
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
class NewSamlPage extends FormPage(
  SSO_PERMISSIONS.createSsoConfiguration,
  AddSamlConfigurationRequest,
  WITH_METADATA,
) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly saml!: SamlProvider;

  describe(visit: PageVisit): FormDescription<AddSamlConfigurationRequest> {
    const id = idIn(visit);
    return {
      title: 'Add an identity provider with SAML',
      parent: SSO_OVERVIEW,
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

/** The value of the field `purpose` in the form on the page of all steps. */
export const SET_UP_PURPOSE = 'set_up';

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
class NewOpenidPage extends FormPage(SSO_PERMISSIONS.createSsoConfiguration, AddOpenidConfigurationRequest) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly openid!: OpenidProvider;

  describe(visit: PageVisit): FormDescription<AddOpenidConfigurationRequest> {
    const id = idIn(visit);
    return {
      title: 'Add an identity provider with OpenID Connect',
      parent: SSO_OVERVIEW,
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
          <HiddenField name="purpose" />
          <OpenidFields />
        </>
      ),
      button: 'Add identity provider',
      perform: async (request) => {
        const configuration = await this.configurations.addOpenid(visit.actor, request);
        const isSetUp = visit.form.get('purpose') === SET_UP_PURPOSE;
        return isSetUp ? { redirectTo: `${SSO_OVERVIEW.path}?done=added` } : added(configuration);
      },
    };
  }
}

/** The fields that the identity provider shows for an application. */
export function OpenidFields(): VNode {
  return (
    <>
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
  );
}

@Controller('dashboard/single-sign-on/:id/change')
class ChangePage extends FormPage(
  SSO_PERMISSIONS.updateSsoConfiguration,
  ChangeConfigurationRequest,
  WITH_METADATA,
) {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({
    actor,
    params: { id },
  }: PageVisit<'id'>): Promise<FormDescription<ChangeConfigurationRequest, SsoConfiguration>> {
    const configuration = await this.configurations.get(actor, id);
    const { name, protocol, metadataUrl } = configuration;
    return {
      title: `Change ${isolated(name)}`,
      parent: { title: name, path: configurationPath(id) },
      subject: configuration,
      shows: trustOf,
      values: { name, metadata_url: metadataUrl },
      fields: (
        <>
          <TextField name="name" label="Name" required />
          {protocol === 'saml' ? (
            <>
              <p>
                Leave the field “Metadata” empty to keep the current metadata. If you save the form without
                changes, the metadata is fetched from the URL again. To use metadata that you paste, empty the
                field of the URL.
              </p>
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
      perform: (request, check) => this.configurations.change(actor, configuration, request, check),
      next: `${configurationPath(id)}?done=changed`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/enable')
class EnablePage extends ConfirmPage(SSO_PERMISSIONS.enableSsoConfiguration) {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation<SsoConfiguration>> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Enable ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      subject: configuration,
      shows: trustOf,
      text: 'Users whose email addresses are in your proved domains are sent to this identity provider when they log in. Only one identity provider can be enabled at a time.',
      button: 'Enable single sign-on',
      isDestructive: false,
      perform: (_, check) => this.configurations.enable(actor, id, check),
      next: `${configurationPath(id)}?done=enabled`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/disable')
class DisablePage extends ConfirmPage(SSO_PERMISSIONS.disableSsoConfiguration) {
  @Inject() private readonly configurations!: SsoConfigurationsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation<SsoConfiguration>> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Disable ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      subject: configuration,
      shows: trustOf,
      text: 'Users log in with their passwords. Existing sessions continue. You can enable single sign-on again.',
      button: 'Disable single sign-on',
      perform: (_, check) => this.configurations.disable(actor, id, check),
      next: `${configurationPath(id)}?done=disabled`,
    };
  }
}

@Controller('dashboard/single-sign-on/:id/certificates/remove')
class RemoveCertificatePage extends ConfirmPage(SSO_PERMISSIONS.updateSsoConfiguration) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly keys!: SamlKeysService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation<readonly string[]>> {
    const configuration = await this.configurations.get(actor, id);
    return {
      title: `Remove the older certificate of ${isolated(configuration.name)}?`,
      parent: { title: configuration.name, path: configurationPath(id) },
      subject: await this.keys.certificatesOf(id),
      shows: (current) => ({ 'Certificates, the older one first': fingerprintsOf(current) }),
      text: 'Make sure that the identity provider knows the new certificate: requests are signed with it from now on, and assertions that are encrypted with the older one are refused.',
      button: 'Remove the older certificate',
      perform: (_, check) => this.configurations.endRollover(actor, configuration, check),
      next: `${configurationPath(id)}?done=certificate-removed`,
    };
  }
}

export const SSO_CONFIGURATION_PAGES = [
  ConfigurationPage,
  NewSamlPage,
  NewOpenidPage,
  ChangePage,
  EnablePage,
  DisablePage,
  RemoveCertificatePage,
];
