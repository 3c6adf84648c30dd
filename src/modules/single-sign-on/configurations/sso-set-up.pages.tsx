import { randomUUID } from 'node:crypto';
import { Controller, Inject, Post } from '@nestjs/common';
import type { FunctionComponent, VNode } from 'preact';
import { SecretDigest } from '../../../infrastructure/crypto/index.js';
import {
  ActionButton,
  Allowed,
  Badge,
  ButtonLink,
  DashboardAction,
  Details,
  Form,
  FormPage,
  Moment,
  RequestOfForm,
  submitted,
  Table,
  TextField,
  Visit,
  type FormDescription,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import {
  AddDomainRequest,
  AllowlistedDomainsService,
  DOMAIN_PERMISSIONS,
  DomainPurpose,
  ProofRecord,
  type AllowlistedDomain,
} from '../../allowlisted-domains/index.js';
import { configurationPath, SSO_OVERVIEW } from '../configuration-path.js';
import { trustOf } from '../logins/provider-trust.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import { SamlProvider } from '../saml/saml-provider.js';
import { breakGlassOwners, settingFields, valuesOf, versionOf } from '../settings/sso-settings.pages.js';
import { SsoSettingsRequest } from '../settings/sso-settings.dto.js';
import { SsoSettingsService } from '../settings/sso-settings.service.js';
import type { SsoSetting } from '../settings/sso-setting.entity.js';
import { SSO_PERMISSIONS } from '../single-sign-on.capability.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import {
  certificateEnd,
  OpenidFields,
  OurAddresses,
  PROTOCOLS,
  RedirectAddress,
  SET_UP_PURPOSE,
  statusOf,
} from './sso-configurations.pages.js';
import { AddOpenidConfigurationRequest } from './sso-configurations.dto.js';
import { SsoConfigurationsService } from './sso-configurations.service.js';

const NEW_PATH = `${SSO_OVERVIEW.path}/configurations`;

/** Single sign-on from nothing to enabled, in four steps, and the settings. */
@Controller('dashboard/single-sign-on')
export class SetUpPage extends FormPage(
  { show: SSO_PERMISSIONS.listSsoConfigurations, send: SSO_PERMISSIONS.enableSsoConfiguration },
  SsoSettingsRequest,
) {
  @Inject() private readonly configurations!: SsoConfigurationsService;
  @Inject() private readonly domains!: AllowlistedDomainsService;
  @Inject() private readonly settings!: SsoSettingsService;
  @Inject() private readonly openid!: OpenidProvider;
  @Inject() private readonly saml!: SamlProvider;
  @Inject() private readonly digest!: SecretDigest;

  async describe({ actor }: PageVisit): Promise<FormDescription<SsoSettingsRequest, SsoSetting>> {
    const [all, domains, setting, problem] = await Promise.all([
      this.configurations.list(actor),
      this.domains.list(actor),
      this.settings.get(actor.organizationId),
      this.settings.problemOf(actor.organizationId),
    ]);
    const current = all.find(({ enabledAt }) => enabledAt !== null) ?? all[0];
    const others = all.filter((each) => each !== current);
    const isProved = domains.some(({ provedAt }) => provedAt !== null);
    return {
      title: SSO_OVERVIEW.title,
      action: SSO_OVERVIEW.path,
      parent: undefined,
      messages: {
        proved: 'The domain is proved.',
        added: 'The identity provider was added. Register this service there, then test the login.',
        changed: 'The settings were changed.',
        marked: 'The owner is a break-glass owner now.',
        unmarked: 'The owner is no longer a break-glass owner.',
      },
      text: (
        <>
          {this.domainStep(domains, isProved)}
          {current
            ? this.providerStep(current, others)
            : this.newProviderStep(firstIdOf(actor.organizationId, this.digest))}
          {testStep(current, isProved)}
          {enableStep(current)}
        </>
      ),
      subject: setting,
      shows: versionOf,
      values: valuesOf(setting),
      fields: settingFields(problem),
      button: 'Save settings',
      after: breakGlassOwners(await this.settings.owners(actor), actor),
      perform: (request, check) => this.settings.change(actor, request, check),
      next: `${SSO_OVERVIEW.path}?done=changed`,
    };
  }

  @Post('break-glass')
  @DashboardAction(SSO_PERMISSIONS.enableSsoConfiguration)
  mark(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, form } = visit;
    return submitted(
      async () => {
        const isMarked = form.get('mark') === 'yes';
        await this.settings.markBreakGlass(actor, form.get('user_id') ?? '', isMarked);
        return { redirectTo: `${SSO_OVERVIEW.path}?done=${isMarked ? 'marked' : 'unmarked'}` };
      },
      () => this.show(visit),
    );
  }

  private domainStep(domains: readonly AllowlistedDomain[], isProved: boolean): VNode {
    const waiting = isProved ? [] : domains;
    return (
      <Step number={1} title="Prove your domain" state={isProved ? 'done' : 'next'}>
        {isProved ? (
          <p>
            Users with email addresses in{' '}
            <a href="/dashboard/allowed-domains">
              {domains
                .filter(({ provedAt }) => provedAt)
                .map(({ domain }) => domain)
                .join(', ')}
            </a>{' '}
            can log in.
          </p>
        ) : (
          <p>
            Only users with email addresses in a domain that you proved can log in. You prove it with a TXT
            record where you manage the domain’s DNS. A new record can take an hour to appear.
          </p>
        )}
        <Allowed permission={DOMAIN_PERMISSIONS.createAllowlistedDomain}>
          {waiting.map((domain) => (
            <Form key={domain.id} action={`/dashboard/allowed-domains/${domain.id}/proof`}>
              <h3>{domain.domain}</h3>
              <ProofRecord {...domain} />
              <DomainPurpose purpose="set_up" />
              <button>Check the record now</button>
            </Form>
          ))}
          {domains.length > 0 ? null : (
            <Form action="/dashboard/allowed-domains/new">
              <DomainPurpose purpose="set_up" />
              <RequestOfForm.Provider value={{ type: AddDomainRequest }}>
                <TextField name="domain" label="Domain" hint="Such as example.com, without its subdomains" />
              </RequestOfForm.Provider>
              <button>Add domain</button>
            </Form>
          )}
        </Allowed>
      </Step>
    );
  }

  private newProviderStep(id: string): VNode {
    return (
      <Step number={2} title="Add your identity provider" state="next">
        <p>
          Create an application of the type “web” at your identity provider, such as Okta or Microsoft Entra
          ID, and enter what it shows. Nobody is sent there until you enable it.
        </p>
        <Allowed permission={SSO_PERMISSIONS.createSsoConfiguration}>
          <RedirectAddress redirectUri={this.openid.address(id)} />
          <Form action={`${NEW_PATH}/new-openid`}>
            <input type="hidden" name="id" value={id} />
            <input type="hidden" name="purpose" value={SET_UP_PURPOSE} />
            <RequestOfForm.Provider value={{ type: AddOpenidConfigurationRequest }}>
              <OpenidFields />
            </RequestOfForm.Provider>
            <button>Add identity provider</button>
          </Form>
          <p>
            Or <a href={`${NEW_PATH}/new?id=${randomUUID()}`}>add a provider with SAML</a>.
          </p>
        </Allowed>
      </Step>
    );
  }

  private providerStep(current: SsoConfiguration, others: readonly SsoConfiguration[]): VNode {
    const { id, name, protocol, enabledAt } = current;
    const validUntil = certificateEnd(current);
    const ours =
      protocol === 'openid' ? (
        <RedirectAddress redirectUri={this.openid.address(id)} />
      ) : (
        <OurAddresses {...this.saml.addresses(id)} />
      );
    return (
      <Step number={2} title="Add your identity provider" state="done">
        <Details
          entries={[
            [
              'Name',
              <a key="name" href={configurationPath(id)}>
                {name}
              </a>,
            ],
            ['Protocol', PROTOCOLS[protocol]],
            ...(validUntil ? [['Certificate expires', validUntil] as const] : []),
          ]}
        />
        {enabledAt ? null : ours}
        <p>
          <a href={configurationPath(id)}>Certificates, metadata and last logins</a>
        </p>
        {others.length === 0 ? null : <OtherProviders providers={others} />}
        <Allowed permission={SSO_PERMISSIONS.createSsoConfiguration}>
          <div class="actions">
            <ButtonLink to={`${NEW_PATH}/new-openid?id=${randomUUID()}`} kind="second">
              Add OpenID Connect
            </ButtonLink>
            <ButtonLink to={`${NEW_PATH}/new?id=${randomUUID()}`} kind="second">
              Add SAML
            </ButtonLink>
          </div>
        </Allowed>
      </Step>
    );
  }
}

/**
 * Returns the ID of the first provider of an organization. The address that is registered there contains it, before it is added. It
 * depends on a secret, so that no other organization can add a provider with it.
 */
function firstIdOf(organizationId: string, digest: SecretDigest): string {
  const digits = digest.of(`first identity provider ${organizationId}`).toString('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

const STATES = {
  done: <Badge tone="good">Done</Badge>,
  next: <Badge tone="warn">To do</Badge>,
  later: <Badge tone="soft">Later</Badge>,
};

interface StepProps {
  readonly number: number;
  readonly title: string;
  /** `later`: an earlier step comes first. */
  readonly state: keyof typeof STATES;
}

const Step: FunctionComponent<StepProps> = ({ number, title, state, children }) => (
  <section class="step">
    <h2>
      {number}. {title} {STATES[state]}
    </h2>
    {children}
  </section>
);

function OtherProviders({ providers }: { readonly providers: readonly SsoConfiguration[] }): VNode {
  return (
    <>
      <h3>Other identity providers</h3>
      <Table
        caption="Other identity providers"
        rows={providers}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', kind: 'main', cell: ({ name }) => name, to: ({ id }) => configurationPath(id) },
          { title: 'Status', kind: 'state', cell: statusOf },
          {
            title: 'Protocol',
            kind: 'short',
            isOnDeskOnly: true,
            cell: ({ protocol }) => PROTOCOLS[protocol],
          },
          { title: 'Issuer', kind: 'address', isOnDeskOnly: true, cell: ({ entityId }) => entityId },
          { title: 'Certificate expires', kind: 'text', cell: certificateEnd },
          { title: 'Added', kind: 'time', isOnWideOnly: true, cell: ({ createdAt }) => createdAt },
        ]}
      />
    </>
  );
}

function testStep(current: SsoConfiguration | undefined, isProved: boolean): VNode {
  const canTest = current !== undefined && isProved;
  const testedAt = current?.testedAt;
  return (
    <Step number={3} title="Test the login" state={testedAt ? 'done' : canTest ? 'next' : 'later'}>
      <p>
        {testedAt ? (
          <>
            The last test that succeeded was <Moment time={testedAt} />.
          </>
        ) : (
          'Log in at your identity provider to see what it sends, and who would be logged in. A test logs nobody in.'
        )}
      </p>
      {canTest ? (
        <Allowed permission={SSO_PERMISSIONS.enableSsoConfiguration}>
          <ActionButton action={configurationPath(current.id, 'test')}>Test login</ActionButton>
        </Allowed>
      ) : null}
    </Step>
  );
}

function enableStep(current: SsoConfiguration | undefined): VNode {
  const { enabledAt, testedAt } = current ?? {};
  return (
    <Step
      number={4}
      title="Enable single sign-on"
      state={enabledAt ? 'done' : current && testedAt ? 'next' : 'later'}
    >
      <p>
        Users whose email addresses are in one of your proved domains are then sent to your identity provider.
        Passwords keep working unless you require single sign-on below.
      </p>
      {current && enabledAt ? (
        <ButtonLink
          permission={SSO_PERMISSIONS.disableSsoConfiguration}
          to={configurationPath(current.id, 'disable')}
          kind="second"
        >
          Disable
        </ButtonLink>
      ) : current && testedAt ? (
        <Allowed permission={SSO_PERMISSIONS.enableSsoConfiguration}>
          <Details entries={Object.entries(trustOf(current))} />
          <ActionButton action={configurationPath(current.id, 'enable')} version={trustOf(current)}>
            Enable single sign-on
          </ActionButton>
        </Allowed>
      ) : (
        <p class="hint">You can enable it after a test login that succeeded.</p>
      )}
    </Step>
  );
}
