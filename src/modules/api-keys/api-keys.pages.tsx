import { Controller, Get, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import { describeScope, SCOPES, type Scope } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Badge,
  ButtonLink,
  Checkboxes,
  CodeBlock,
  ConfirmPage,
  dashboardPath,
  DashboardPage,
  Details,
  FormPage,
  inEachEnvironment,
  isolated,
  ListPage,
  Moment,
  Notice,
  OverlapField,
  pathWith,
  RelativeTime,
  SelectField,
  TextArea,
  TextField,
  Visit,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type Page,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { RotationRequest } from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { CurrentRoles } from '../audit-logs/index.js';
import type { ApiKey } from './api-key.entity.js';
import { KEY_PERMISSIONS } from './api-keys.capability.js';
import {
  CreateKeyRequest,
  linesOf,
  trustIn,
  TrustRequest,
  TryTokenRequest,
  UpdateKeyRequest,
} from './api-keys.dto.js';
import { API_KEY_NOT_FOUND } from './api-keys-errors.js';
import { ApiKeysService, isActive, type IssuedKey } from './api-keys.service.js';
import { AssertionsService } from './assertions.service.js';
import type { KeyTrust } from './key-trust.js';

const pathOf = (environment: PlatformEnvironment, ...parts: string[]): string =>
  dashboardPath(environment, 'api-credentials', 'keys', ...parts);
/** RFC 7523, section 2.1. */
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** As the request log names the operation that refuses the tokens of workloads. */
const TOKEN_OPERATION = 'POST /oauth/token';
const listOf = (environment: PlatformEnvironment) => ({ title: 'API keys', path: pathOf(environment) });
const pageOf = (environment: PlatformEnvironment, { id, name }: ApiKey) => ({
  title: name,
  path: pathOf(environment, id),
});

@Controller(inEachEnvironment('api-credentials/keys'))
class KeysPage extends ListPage(KEY_PERMISSIONS.listApiKeys) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly clock!: Clock;

  describe(visit: PageVisit): ListDescription<ApiKey> {
    const { environment } = visit;
    const now = this.clock.now();
    const log = (filters: Readonly<Record<string, string>>): string =>
      pathWith(dashboardPath(environment, 'request-logs'), { type: 'request' }, filters);
    const add = (
      <>
        <ButtonLink
          permission={KEY_PERMISSIONS.createApiKey}
          to={pathOf(environment, 'workload')}
          kind="second"
        >
          Trust a workload
        </ButtonLink>{' '}
        <ButtonLink permission={KEY_PERMISSIONS.createApiKey} to={pathOf(environment, 'new')}>
          Create key
        </ButtonLink>
      </>
    );
    return {
      title: 'API keys',
      parent: { title: 'API credentials', path: dashboardPath(environment, 'api-credentials') },
      about: 'Each program can have a key of its own, which allows only what the program does.',
      actions: add,
      messages: { ended: 'The key was ended. Every process refuses it within 5 seconds.' },
      rows: async () => {
        const client = await this.keys.clientOf(visit);
        return { data: client ? await this.keys.list(client.clientId) : [] };
      },
      after: (
        <p>
          The log entries of <a href={log({ status_code: '401' })}>requests with a refused key</a> and of{' '}
          <a href={log({ operation: TOKEN_OPERATION, status_code: '400' })}>refused workload tokens</a> show
          the reason, and the address that sent the request.
        </p>
      ),
      columns: [
        {
          title: 'Name',
          kind: 'main',
          cell: ({ name }) => name,
          to: ({ id }) => pathOf(environment, id),
        },
        { title: 'Status', kind: 'address', cell: (key) => <Status of={key} now={now} /> },
        { title: 'Scopes', kind: 'address', isOnDeskOnly: true, cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Last used', kind: 'time', cell: ({ lastUsedAt }) => lastUsedAt ?? 'Never' },
        { title: 'Created', kind: 'time', isOnWideOnly: true, cell: ({ createdAt }) => createdAt },
      ],
      empty: {
        title: 'No API keys yet',
        text: 'Create a key for each program, so that none of them needs the secret.',
      },
    };
  }
}

function Status({ of: key, now }: { readonly of: ApiKey; readonly now: Date }): VNode {
  const { expiresAt, rotatedAt, trust } = key;
  if (!isActive(key, now)) return <Badge tone="bad">{key.revokedAt ? 'Ended' : 'Expired'}</Badge>;
  return (
    <>
      <Badge tone={rotatedAt ? 'warn' : 'good'}>{rotatedAt ? 'Replaced' : 'Active'}</Badge>
      {trust ? ' workload' : null}
      {expiresAt ? (
        <>
          {' '}
          ends <RelativeTime time={expiresAt} />
        </>
      ) : null}
    </>
  );
}

interface ChoicesProps {
  readonly path: string;
  readonly parameter: string;
  readonly options: Readonly<Record<string, { readonly label: string }>>;
}

/** Links that fill in a form. */
function Choices({ path, parameter, options }: ChoicesProps): VNode {
  return (
    <p>
      Begin with:{' '}
      {Object.entries(options).map(([name, { label }], index) => (
        <>
          {index > 0 ? ' · ' : null}
          <a href={`${path}?${parameter}=${name}`}>{label}</a>
        </>
      ))}
    </p>
  );
}

/** Scopes of common programs. The audit log is an operation for production. */
const profiles = (
  environment: PlatformEnvironment,
): Readonly<Record<string, { readonly label: string; readonly scopes: readonly Scope[] }>> => ({
  backend: {
    label: 'Backend',
    scopes: [
      'accounts:read',
      'accounts:write',
      'agents:read',
      'agents:write',
      'detected_accounts:read',
      'mcp_tokens:write',
      'merchants:read',
      'sessions:write',
      'sign_in_links:read',
      'sign_in_links:write',
      'users:identify',
    ],
  },
  ci: { label: 'Webhooks in CI', scopes: ['webhook_endpoints:read', 'webhook_endpoints:write'] },
  read: {
    label: 'Read only',
    scopes: SCOPES.filter(
      (scope) => scope.endsWith(':read') && (environment === 'production' || scope !== 'audit_logs:read'),
    ),
  },
});

@Controller(inEachEnvironment('api-credentials/keys/new'))
class NewKeyPage extends FormPage(KEY_PERMISSIONS.createApiKey, CreateKeyRequest) {
  @Inject() private readonly keys!: ApiKeysService;

  /** @param visit.query `profile`: which scopes are selected */
  describe(visit: PageVisit): FormDescription<CreateKeyRequest> {
    const { environment, query } = visit;
    const options = profiles(environment);
    const profile = Object.entries(options).find(([name]) => name === query['profile'])?.[1];
    return {
      title: 'Create an API key',
      parent: listOf(environment),
      text: <Choices path={pathOf(environment, 'new')} parameter="profile" options={options} />,
      fields: (
        <>
          <Fields scopes={profile?.scopes ?? []} />
          <SelectField
            name="expires_in_days"
            label="Expires"
            options={[
              { value: '', label: 'Never' },
              ...[7, 30, 90, 365].map((days) => ({ value: String(days), label: `In ${days} days` })),
            ]}
          />
        </>
      ),
      button: 'Create key',
      perform: async ({ name, scopes, ip_ranges: ipRanges = [], expires_in_days: expiresInDays }) =>
        issuedPage(
          environment,
          await this.keys.createForUser(visit, { name, scopes, ipRanges, expiresInDays }),
        ),
    };
  }
}

interface Preset {
  readonly label: string;
  readonly values: Partial<TrustRequest>;
  readonly note?: string;
}

/** The platforms that issue tokens to workloads. `problemWithSubject` refuses the placeholders in angle brackets. */
const PRESETS: Readonly<Record<string, Preset>> = {
  github: {
    label: 'GitHub Actions',
    values: {
      issuer: 'https://token.actions.githubusercontent.com',
      subject: 'repo:<owner>@<owner ID>/<repository>@<repository ID>:ref:refs/heads/main',
    },
    note: 'The subject of older repositories has no “@” and no IDs, unless they were renamed or transferred since July 15, 2026, or have opted in.',
  },
  gitlab: {
    label: 'GitLab',
    values: {
      issuer: 'https://gitlab.com',
      subject: 'project_path:<group>/<project>:ref_type:branch:ref:main',
    },
  },
  kubernetes: {
    label: 'Kubernetes',
    values: {
      issuer: 'https://<issuer of the cluster>',
      subject: 'system:serviceaccount:<namespace>:<name>',
    },
  },
};

@Controller(inEachEnvironment('api-credentials/keys/workload'))
class NewTrustPage extends FormPage(KEY_PERMISSIONS.createApiKey, TrustRequest) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly assertions!: AssertionsService;

  /** @param visit.query `preset`: whose tokens the workload gets */
  describe(visit: PageVisit): FormDescription<TrustRequest> {
    const { environment, query } = visit;
    const preset = Object.entries(PRESETS).find(([name]) => name === query['preset'])?.[1];
    return {
      title: 'Trust a workload',
      parent: listOf(environment),
      text: (
        <>
          <p>
            A workload needs no stored key: it exchanges the token that its platform gives it for an access
            token of 15 minutes.
          </p>
          <Choices path={pathOf(environment, 'workload')} parameter="preset" options={PRESETS} />
          {preset?.note === undefined ? null : <p>{preset.note}</p>}
        </>
      ),
      values: { ...preset?.values },
      fields: <TrustFields scopes={[]} tokenEndpoint={this.assertions.tokenEndpoint} />,
      button: 'Create key',
      perform: async (request) => {
        const trust = trustIn(request);
        this.assertions.requireUsable(trust);
        const { name, scopes, ip_ranges: ipRanges = [] } = request;
        const { stored } = await this.keys.createForUser(visit, { name, scopes, ipRanges, trust });
        return { redirectTo: `${pathOf(environment, stored.id)}?done=created` };
      },
    };
  }
}

interface TrustFieldsProps {
  readonly scopes: readonly Scope[];
  readonly tokenEndpoint: string;
}

function TrustFields({ scopes, tokenEndpoint }: TrustFieldsProps): VNode {
  return (
    <>
      <TextField
        name="issuer"
        label="Issuer"
        hint="The issuer of the tokens, which is the value of their claim iss"
      />
      <TextField
        name="subject"
        label="Subject"
        hint="The value of the claim sub. A “*” at the end, after “:” or “/”, stands for anything."
      />
      <TextField
        name="audience"
        label="Audience (optional)"
        hint={`The value of the claim aud. Default: ${tokenEndpoint}`}
      />
      <TextArea
        name="claims"
        label="Further claims (optional)"
        rows={3}
        hint="Claims that the token must have, such as environment=production, one per line"
      />
      <Fields scopes={scopes} />
    </>
  );
}

@Controller(inEachEnvironment('api-credentials/keys/:id/try'))
class TryTokenPage extends FormPage(KEY_PERMISSIONS.createApiKey, TryTokenRequest) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly assertions!: AssertionsService;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription<TryTokenRequest>> {
    const { environment } = visit;
    const key = await this.keys.requireIn(visit, visit.params.id);
    const { trust } = key;
    if (!trust) throw API_KEY_NOT_FOUND.error();
    const parent = pageOf(environment, key);
    return {
      title: 'Try a token',
      parent,
      text: 'Paste a token of the workload. It is only checked, and neither stored nor used up.',
      fields: <TextArea name="token" label="Token" rows={6} hint="A JWT, which begins with eyJ" />,
      button: 'Check token',
      perform: async ({ token }) => {
        const rules = await this.assertions.check(trust, token);
        const isAccepted = rules.every(({ problem }) => problem === undefined);
        return {
          title: isAccepted ? 'The token is accepted' : 'The token is not accepted',
          parent,
          content: (
            <>
              <Details
                entries={rules.map(({ rule, problem }) => [
                  rule,
                  <>
                    <Badge tone={problem ? 'bad' : 'good'}>{problem ? 'No' : 'Yes'}</Badge> {problem}
                  </>,
                ])}
              />
              <ButtonLink to={pathOf(environment, key.id, 'try')} kind="second">
                Try another token
              </ButtonLink>
            </>
          ),
        };
      },
    };
  }
}

function Fields({ scopes }: { readonly scopes: readonly Scope[] }): VNode {
  return (
    <>
      <TextField name="name" label="Name" hint="The program that uses the key, such as “Order service”" />
      <Checkboxes
        name="scopes[]"
        legend="Scopes"
        hint="What the program may do. Select only what it needs; you can change this later."
        options={SCOPES.map((value) => ({ value, label: value, hint: describeScope(value) }))}
        values={scopes}
      />
      <TextArea
        name="ip_ranges"
        label="IP addresses (optional)"
        rows={3}
        hint="The only addresses that may use the key, such as 203.0.113.0/24 or 2001:db8::/32, one per line. If you enter none, all addresses may use the key."
      />
    </>
  );
}

/** The key in plain text. This page is the response to a form, so the key is in no address. @param replaced by a rotation */
function issuedPage(environment: PlatformEnvironment, { stored, token }: IssuedKey, replaced?: ApiKey): Page {
  return {
    title: 'The new API key',
    parent: listOf(environment),
    content: (
      <>
        <Notice kind="good">
          Copy the key of {isolated(stored.name)} now. You cannot see it again after you leave this page.
        </Notice>
        {replaced?.expiresAt && replaced.rotatedAt && replaced.rotatedAt < replaced.expiresAt ? (
          <p>
            The old key works until <Moment time={replaced.expiresAt} />.
          </p>
        ) : null}
        <CodeBlock title="API key" code={token} />
        <CodeBlock title="Client ID" code={stored.clientId} />
        <p>
          Send the key in place of the secret: as the password of HTTP Basic beside the client ID, or alone as
          a Bearer token. Keep it in the secret store of the program, never in source code, an app or a
          browser.
        </p>
      </>
    ),
  };
}

@Controller(inEachEnvironment('api-credentials/keys/:id'))
class KeyPage {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly assertions: AssertionsService,
    private readonly roles: CurrentRoles,
    private readonly clock: Clock,
  ) {}

  @Get()
  @DashboardPage(KEY_PERMISSIONS.listApiKeys)
  async show(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { environment } = visit;
    const key = await this.keys.requireIn(visit, visit.params.id);
    const { creatorId, revokedAt, expiresAt, trust } = key;
    const endpoint = this.assertions.tokenEndpoint;
    const now = this.clock.now();
    const isGone = creatorId !== null && !(await this.roles.currentRole(creatorId, now));
    const to = (action: string): string => pathOf(environment, key.id, action);
    const log = dashboardPath(environment, 'request-logs');
    return {
      title: key.name,
      parent: listOf(environment),
      messages: {
        created: 'The key was created. Try a token of the workload to see whether it is accepted.',
        saved: 'The key was changed. The change takes effect within 5 seconds.',
      },
      content: (
        <>
          <Details
            entries={[
              ...Object.entries({
                ...versionOf(key),
                ...(trust?.audience === null && { Audience: endpoint }),
              }),
              ...useOf(key, now, isGone ? ', who no longer has access. The key still works.' : ''),
              revokedAt
                ? ['Ended', <Moment key="ended" time={revokedAt} />]
                : ['Expires', expiresAt ? <Moment key="expires" time={expiresAt} /> : 'Never'],
              [
                'Requests',
                <a key="requests" href={pathWith(log, { api_key: key.name }, { period: '7d' })}>
                  Requests with this name in the last 7 days
                </a>,
              ],
            ]}
          />
          {trust && !revokedAt ? (
            <CodeBlock
              title="Exchange a token of the workload for an access token"
              code={`curl -sS ${endpoint} -d client_id=${key.clientId} \\\n  -d grant_type=${JWT_BEARER} \\\n  --data-urlencode "assertion=$token"`}
            />
          ) : null}
          {revokedAt ? null : (
            <div class="actions">
              <ButtonLink
                permission={KEY_PERMISSIONS.updateApiKey}
                to={to(trust ? 'workload' : 'edit')}
                kind="second"
              >
                Edit
              </ButtonLink>
              {trust ? (
                <ButtonLink permission={KEY_PERMISSIONS.createApiKey} to={to('try')} kind="second">
                  Try a token
                </ButtonLink>
              ) : key.rotatedAt || !isActive(key, now) ? null : (
                <ButtonLink permission={KEY_PERMISSIONS.rotateApiKey} to={to('rotate')} kind="second">
                  Rotate
                </ButtonLink>
              )}
              <ButtonLink permission={KEY_PERMISSIONS.endApiKey} to={to('end')} kind="danger">
                End
              </ButtonLink>
            </div>
          )}
        </>
      ),
    };
  }
}

/** What tells a key from its successor, which has the same name, scopes and addresses. */
const useOf = (key: ApiKey, now: Date, ofCreator = '') =>
  [
    ['Status', <Status key="status" of={key} now={now} />],
    ['Created', <Moment key="created" time={key.createdAt} />],
    ['Created by', `${key.createdBy}${ofCreator}`],
    [
      'Last used',
      key.lastUsedAt ? (
        <>
          <RelativeTime time={key.lastUsedAt} /> by {key.lastUsedIp}
        </>
      ) : (
        'Never'
      ),
    ],
  ] as const;

/** The values that can be changed. */
const versionOf = ({ name, scopes, ipRanges, trust }: ApiKey): ShownValues => ({
  Name: name,
  Scopes: scopes.join(', '),
  'IP addresses': ipRanges.join(', ') || 'all',
  ...(trust && shownTrust(trust)),
});

const shownTrust = (trust: KeyTrust): ShownValues => ({
  Issuer: trust.issuer,
  Audience: trust.audience ?? 'the address of the token endpoint',
  Subject: trust.subject,
  'Further claims': linesOf(trust).join(', ') || 'none',
});

@Controller(inEachEnvironment('api-credentials/keys/:id/edit'))
class EditKeyPage extends FormPage(KEY_PERMISSIONS.updateApiKey, UpdateKeyRequest) {
  @Inject() private readonly keys!: ApiKeysService;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription<UpdateKeyRequest, ApiKey>> {
    const key = await this.keys.requireIn(visit, visit.params.id);
    const parent = pageOf(visit.environment, key);
    return {
      title: 'Edit API key',
      parent,
      subject: key,
      shows: versionOf,
      values: { name: key.name, ip_ranges: key.ipRanges.join('\n') },
      fields: <Fields scopes={key.scopes} />,
      button: 'Save changes',
      perform: ({ name, scopes, ip_ranges: ipRanges = [] }, check) =>
        this.keys.update(visit, key.id, { name, scopes, ipRanges }, check),
      next: `${parent.path}?done=saved`,
    };
  }
}

@Controller(inEachEnvironment('api-credentials/keys/:id/workload'))
class EditTrustPage extends FormPage(KEY_PERMISSIONS.updateApiKey, TrustRequest) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly assertions!: AssertionsService;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription<TrustRequest, ApiKey>> {
    const key = await this.keys.requireIn(visit, visit.params.id);
    if (!key.trust) throw API_KEY_NOT_FOUND.error();
    const parent = pageOf(visit.environment, key);
    const { issuer, audience, subject } = key.trust;
    return {
      title: 'Edit the trusted workload',
      parent,
      subject: key,
      shows: versionOf,
      text: 'Access tokens that were issued before stay valid for up to 15 minutes. To refuse them at once, end the key.',
      values: {
        name: key.name,
        ip_ranges: key.ipRanges.join('\n'),
        issuer,
        audience,
        subject,
        claims: linesOf(key.trust).join('\n'),
      },
      fields: <TrustFields scopes={key.scopes} tokenEndpoint={this.assertions.tokenEndpoint} />,
      button: 'Save changes',
      perform: async (request, check) => {
        const trust = trustIn(request);
        this.assertions.requireUsable(trust);
        const { name, scopes, ip_ranges: ipRanges = [] } = request;
        await this.keys.update(visit, key.id, { name, scopes, ipRanges, trust }, check);
      },
      next: `${parent.path}?done=saved`,
    };
  }
}

@Controller(inEachEnvironment('api-credentials/keys/:id/rotate'))
class RotateKeyPage extends ConfirmPage(KEY_PERMISSIONS.rotateApiKey, RotationRequest) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly clock!: Clock;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation<ApiKey, RotationRequest>> {
    const { environment } = visit;
    const key = await this.keys.requireIn(visit, visit.params.id);
    return {
      title: 'Rotate this API key?',
      parent: pageOf(environment, key),
      subject: key,
      shows: versionOf,
      text: (
        <>
          <Details entries={useOf(key, this.clock.now())} />
          <p>You get a new key with the same name, scopes and addresses. Both work until the overlap ends.</p>
          <OverlapField isInProgress={false} />
        </>
      ),
      button: 'Rotate key',
      isDestructive: false,
      perform: async ({ overlap_hours: hours }, check) => {
        const issued = await this.keys.rotateForUser(visit, key.id, hours, check);
        return issuedPage(environment, issued, await this.keys.requireIn(visit, key.id));
      },
    };
  }
}

@Controller(inEachEnvironment('api-credentials/keys/:id/end'))
class EndKeyPage extends ConfirmPage(KEY_PERMISSIONS.endApiKey) {
  @Inject() private readonly keys!: ApiKeysService;
  @Inject() private readonly clock!: Clock;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation<ApiKey>> {
    const { environment } = visit;
    const key = await this.keys.requireIn(visit, visit.params.id);
    return {
      title: 'End this API key?',
      parent: pageOf(environment, key),
      subject: key,
      shows: versionOf,
      text: (
        <>
          <Details entries={useOf(key, this.clock.now())} />
          <p>
            Requests with the key fail within 5 seconds, and access tokens that were issued for it at once.
            You cannot undo this.
          </p>
        </>
      ),
      button: 'End key',
      perform: (_, check) => this.keys.end(visit, key.id, check),
      next: `${listOf(environment).path}?done=ended`,
    };
  }
}

export const API_KEY_PAGES = [
  KeysPage,
  NewKeyPage,
  NewTrustPage,
  TryTokenPage,
  KeyPage,
  EditKeyPage,
  EditTrustPage,
  RotateKeyPage,
  EndKeyPage,
];
