import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import {
  AccessibleClients,
  INSUFFICIENT_ROLE,
  type AgentLogins,
  type DashboardActor,
} from '../../../infrastructure/auth/index.js';
import {
  parsedUrl,
  ServiceConfiguration,
  type PlatformEnvironment,
} from '../../../infrastructure/config/index.js';
import {
  BatchedStatement,
  Transaction,
  Transactional,
  type Check,
} from '../../../infrastructure/database/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { fieldError } from '../../../infrastructure/validation/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { AUTHORIZATION_NOT_FOUND } from '../agent-authorization-errors.js';
import type { AgentIssuer, AgentSettings } from '../agent-issuer.js';
import { AGENTS_NOT_ALLOWED } from '../agents/agents.dto.js';
import { RegisteredAgent } from '../agents/registered-agent.entity.js';
import { AgentSetting } from '../agent-setting.entity.js';
import type { ShownAgentSettings, UpdateAgentSettingsRequest } from './agent-settings.dto.js';

const CLIENTS_PER_STATEMENT = 100;
const CONCURRENT_STATEMENTS = 2;
const ONLY_OWNERS = 'Only owners can let anyone log in to the sandbox.';

/** The settings of API clients for agents that log in. */
@Injectable()
export class AgentSettingsService implements AgentLogins {
  private readonly lookups = new BatchedStatement<string, AgentSetting | undefined>({
    execute: async (clientIds) => {
      const found = await this.transaction.manager.findBy(AgentSetting, { clientId: In(clientIds) });
      return clientIds.map((clientId) => found.find((setting) => setting.clientId === clientId));
    },
    maxRows: CLIENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    isRepeatable: true,
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly clients: ApiClientDirectory,
    private readonly accessibleClients: AccessibleClients,
    private readonly addresses: AgentAddresses,
    private readonly auditLog: AuditLog,
    private readonly configuration: ServiceConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Returns the API client, unless agents cannot log in there. */
  async findIssuer(clientId: string): Promise<AgentIssuer | undefined> {
    const issuer = await this.findClient(clientId);
    return issuer?.settings.agents === 'off' ? undefined : issuer;
  }

  /** Returns the API client, also if agents cannot log in there. */
  async findClient(clientId: string): Promise<AgentIssuer | undefined> {
    const client = await this.clients.find(clientId);
    return client && { ...client, settings: await this.of(client) };
  }

  /** @throws OAuthError if agents cannot log in there */
  async requireIssuer(clientId: string): Promise<AgentIssuer> {
    return AGENTS_NOT_ALLOWED.requireFound(await this.findIssuer(clientId));
  }

  /** The URL has the client ID as the agent sent it, because agents compare the `resource` of the metadata with their address. */
  async metadataUrlOf(clientId: string): Promise<string | undefined> {
    return (await this.findIssuer(clientId)) && this.addresses.metadataUrlOf(clientId);
  }

  /** Returns how many development environments let anyone log in as any user. */
  countOpenSandboxes(): Promise<number> {
    return this.transaction.manager.countBy(AgentSetting, { sandboxLogin: 'anyone', loginUrl: IsNull() });
  }

  /**
   * Returns the API client of a development environment whose users have no login but the sandbox.
   *
   * @throws ApiError NOT_FOUND
   */
  async requireSandbox(
    actor: DashboardActor,
    environment: PlatformEnvironment,
  ): Promise<Pick<AgentIssuer, 'clientId' | 'environment'>> {
    const issuer = await this.findClient(
      (await this.accessibleClients.forEnvironment(actor, environment)).clientId,
    );
    if (environment !== 'development' || !issuer || issuer.settings.loginUrl !== null)
      throw AUTHORIZATION_NOT_FOUND.error();
    return issuer;
  }

  async get(actor: DashboardActor, environment: PlatformEnvironment): Promise<ShownAgentSettings> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    return {
      ...(await this.of(client)),
      connectorUrl: this.addresses.resourceOf(client.clientId),
      registeredAgents: await this.registeredAgents(client.clientId),
    };
  }

  /** @throws ApiError INVALID_FIELD */
  @Transactional()
  async update(
    actor: DashboardActor,
    {
      environment,
      allowed_agents: agents,
      allowed_hosts: hosts = [],
      login_url: loginUrl,
      return_hosts: returnHosts = [],
      sandbox_login: sandboxLogin,
    }: UpdateAgentSettingsRequest,
    check?: Check<ShownAgentSettings>,
  ): Promise<void> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    await this.transaction.lock(`agent-settings:${client.clientId}`);
    const before = await this.get(actor, environment);
    check?.(before);
    if (loginUrl !== undefined && !this.isLoginUrl(loginUrl))
      throw fieldError({ field: 'login_url', rule: (field) => wrongLoginUrl(field, this.configuration) });
    const stored = await this.find(client.clientId);
    const setting = {
      clientId: client.clientId,
      agents,
      hosts: [...new Set(hosts)],
      loginUrl: loginUrl ?? null,
      returnHosts: [...new Set(returnHosts)],
      sandboxLogin: sandboxLogin ?? stored?.sandboxLogin ?? 'members',
      updatedAt: this.clock.now(),
    };
    const isAdded = sandboxLogin === 'anyone' && before.sandboxLogin !== 'anyone';
    // This applies even if the setting of an owner had no effect until now.
    const isOpened = stored && isOpenSandbox(setting) && !isOpenSandbox(stored);
    if ((isAdded || isOpened) && actor.role !== 'owner')
      throw INSUFFICIENT_ROLE.error(ONLY_OWNERS, { field: 'sandbox_login' });
    await this.transaction.manager.upsert(AgentSetting, setting, ['clientId']);
    const after = await this.of(client);
    // A change of nothing but a secret in the URL is one, too, although the entry does not show it.
    if (stored && changesBetween(namedSettings(before), namedSettings(after)).length === 0) return;
    const changes = changesBetween(auditedSettings(before), auditedSettings(after));
    await this.auditLog.record({ action: 'agent.settings_update', actor, target: { environment }, changes });
  }

  /** Returns the stored settings, or the defaults: in production, an admin has to allow agents first. */
  private async of({
    clientId,
    environment,
  }: Pick<ClientRecord, 'clientId' | 'environment'>): Promise<AgentSettings> {
    const agents = environment === 'development' ? ('any' as const) : ('off' as const);
    const stored = (await this.find(clientId)) ?? {
      agents,
      hosts: [],
      loginUrl: null,
      returnHosts: [],
      sandboxLogin: 'members' as const,
    };
    return { ...stored, sandboxLogin: this.configuration.isProduction ? stored.sandboxLogin : 'anyone' };
  }

  /** Concurrent requests share a statement, unless a transaction is open. */
  private async find(clientId: string): Promise<AgentSetting | undefined> {
    if (!this.transaction.isOpen) return this.lookups.add(clientId);
    return (await this.transaction.manager.findOneBy(AgentSetting, { clientId })) ?? undefined;
  }

  private registeredAgents(clientId: string): Promise<RegisteredAgent[]> {
    const order = { name: 'ASC', id: 'ASC' } as const;
    return this.transaction.manager.find(RegisteredAgent, { where: { clientId, kind: 'registered' }, order });
  }

  /** Returns whether users may be sent there: the address carries the ID of an authorization. */
  private isLoginUrl(text: string): boolean {
    const url = !/[\s\\]/.test(text) ? parsedUrl(text) : undefined;
    if (!url) return false;
    const { protocol, hash, username, password } = url;
    const isSafe = hash === '' && username === '' && password === '';
    return isSafe && (protocol === 'https:' || (!this.configuration.isProduction && protocol === 'http:'));
  }
}

/** Returns whether anyone can log in to the sandbox: if not to connect an agent, for a sign-in link or the page of a user. */
function isOpenSandbox({ sandboxLogin, loginUrl }: AgentSettings): boolean {
  return sandboxLogin === 'anyone' && loginUrl === null;
}

const wrongLoginUrl = (field: string, { isProduction }: Pick<ServiceConfiguration, 'isProduction'>): string =>
  `The ${field} field must be an https ${isProduction ? '' : 'or http '}URL without a user name or fragment.`;

/** Returns the settings as the form names them. */
export function namedSettings({ agents, hosts, loginUrl, returnHosts, sandboxLogin }: AgentSettings) {
  return {
    allowed_agents: agents,
    allowed_hosts: hosts,
    login_url: loginUrl,
    return_hosts: returnHosts,
    sandbox_login: sandboxLogin,
  };
}

/** Returns the settings as the audit log names them. The query of the URL may contain a secret. */
function auditedSettings(settings: AgentSettings) {
  const { loginUrl } = settings;
  return namedSettings({ ...settings, loginUrl: loginUrl && maskedUrl(loginUrl) });
}
