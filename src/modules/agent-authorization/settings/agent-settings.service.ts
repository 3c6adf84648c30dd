import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In, IsNull, Not } from 'typeorm';
import {
  AccessibleClients,
  type AgentLogins,
  type DashboardActor,
} from '../../../infrastructure/auth/index.js';
import {
  parsedUrl,
  ServiceConfiguration,
  type PlatformEnvironment,
} from '../../../infrastructure/config/index.js';
import { BatchedStatement, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { ErrorKind, INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { displayNameOf, isRedirectUri } from '../agents/agent.js';
import { AGENTS_NOT_ALLOWED, INVALID_REDIRECT_URI } from '../agents/agents.dto.js';
import { RegisteredAgent } from '../agents/registered-agent.entity.js';
import { AUTHORIZATION_NOT_FOUND } from '../authorizations/authorizations.dto.js';
import { AgentConnectionsService } from '../connections/agent-connections.service.js';
import { AgentSetting } from './agent-setting.entity.js';
import type {
  AgentResponse,
  AgentSettingsResponse,
  CreateAgentRequest,
  UpdateAgentSettingsRequest,
} from './agent-settings.dto.js';

export type AgentSettings = Pick<AgentSetting, 'agents' | 'hosts' | 'loginUrl' | 'sandboxLogin'>;

/** An API client whose users may connect agents: to agents, it is an issuer of tokens. */
export interface AgentIssuer extends ClientRecord {
  readonly settings: AgentSettings;
}

const CLIENTS_PER_STATEMENT = 100;
const CONCURRENT_STATEMENTS = 2;
const MAX_AGENTS = 50;
const TOO_MANY_AGENTS = `An API client can have at most ${MAX_AGENTS} registered agents.`;
const INSECURE_LOGIN_URL = 'The login url field must be an https URL without a fragment.';

const ONLY_OWNERS = 'Only owners can let anyone log in to the sandbox.';

const AGENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'Your organization has not registered an agent with this ID.',
  message: 'There is no registered agent with this ID.',
});

/** The settings of API clients for agents that log in, and the agents that owners register. */
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
    private readonly connections: AgentConnectionsService,
    private readonly clients: ApiClientDirectory,
    private readonly accessibleClients: AccessibleClients,
    private readonly addresses: AgentAddresses,
    private readonly auditLog: AuditLog,
    private readonly configuration: ServiceConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Returns the API client, unless agents cannot log in there. */
  async findIssuer(clientId: string): Promise<AgentIssuer | undefined> {
    const client = await this.clients.find(clientId);
    if (!client) return undefined;
    const settings = await this.of(client);
    return settings.agents === 'off' ? undefined : { ...client, settings };
  }

  /** @throws OAuthError if agents cannot log in there */
  async requireIssuer(clientId: string): Promise<AgentIssuer> {
    return AGENTS_NOT_ALLOWED.unlessFound(await this.findIssuer(clientId));
  }

  /** The URL has the client ID as the agent sent it, because agents compare the `resource` of the metadata with their address. */
  async metadataUrlOf(clientId: string): Promise<string | undefined> {
    return (await this.findIssuer(clientId)) && this.addresses.metadataUrlOf(clientId);
  }

  /** Returns how many development environments let anyone log in as any user. */
  countOpenSandboxes(): Promise<number> {
    return this.transaction.manager.countBy(AgentSetting, {
      sandboxLogin: 'anyone',
      loginUrl: IsNull(),
      agents: Not('off'),
    });
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
    const issuer = await this.findIssuer(
      (await this.accessibleClients.forEnvironment(actor, environment)).clientId,
    );
    if (environment !== 'development' || !issuer || issuer.settings.loginUrl !== null)
      throw AUTHORIZATION_NOT_FOUND.error();
    return issuer;
  }

  async get(actor: DashboardActor, environment: PlatformEnvironment): Promise<AgentSettingsResponse> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    const { agents, hosts, loginUrl, sandboxLogin } = await this.of(client);
    return {
      connector_url: this.addresses.resourceOf(client.clientId),
      allowed_agents: agents,
      allowed_hosts: hosts,
      login_url: loginUrl,
      sandbox_login: sandboxLogin,
      registered_agents: (await this.registeredAgents(client.clientId)).map(toResponse),
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
      sandbox_login: sandboxLogin,
    }: UpdateAgentSettingsRequest,
  ): Promise<void> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    const before = await this.get(actor, environment);
    if (loginUrl !== undefined && !this.isLoginUrl(loginUrl)) throw INVALID_FIELD.error(INSECURE_LOGIN_URL);
    const stored = (await this.find(client.clientId))?.sandboxLogin ?? 'members';
    if (sandboxLogin === 'anyone' && before.sandbox_login !== 'anyone' && actor.role !== 'owner')
      throw INSUFFICIENT_ROLE.error(ONLY_OWNERS);
    const setting = {
      clientId: client.clientId,
      agents,
      hosts: [...new Set(hosts)],
      loginUrl: loginUrl ?? null,
      sandboxLogin: sandboxLogin ?? stored,
      updatedAt: this.clock.now(),
    };
    await this.transaction.manager.upsert(AgentSetting, setting, ['clientId']);
    const changes = changesBetween(auditedOf(before), auditedOf(await this.get(actor, environment)));
    await this.auditLog.record({ action: 'agent.settings_update', actor, target: { environment }, changes });
  }

  /**
   * Registers an agent for the users of an API client.
   *
   * @throws ApiError INVALID_FIELD
   */
  @Transactional()
  async register(
    actor: DashboardActor,
    { environment, name, redirect_uris: redirectUris }: CreateAgentRequest,
  ): Promise<void> {
    const { clientId } = await this.accessibleClients.forEnvironment(actor, environment);
    if (!redirectUris.every(isRedirectUri)) throw INVALID_FIELD.error(INVALID_REDIRECT_URI.message);
    await this.transaction.lock(`registered-agents ${clientId}`);
    if ((await this.registeredAgents(clientId)).length >= MAX_AGENTS)
      throw INVALID_FIELD.error(TOO_MANY_AGENTS);
    const agent = {
      id: randomUUID(),
      clientId,
      kind: 'registered' as const,
      name: displayNameOf(name, redirectUris[0] ?? ''),
      redirectUris,
      createdAt: this.clock.now(),
    };
    await this.transaction.manager.insert(RegisteredAgent, agent);
    const target = { name: agent.name, environment };
    await this.auditLog.record({ action: 'agent.register', actor, target });
  }

  /**
   * Removes a registered agent, and ends its connections.
   *
   * @throws ApiError NOT_FOUND
   */
  async remove(actor: DashboardActor, id: string): Promise<void> {
    const clients = await this.accessibleClients.all(actor);
    for (const client of isUUID(id) ? clients : []) if (await this.removeFrom(actor, client, id)) return;
    throw AGENT_NOT_FOUND.error();
  }

  /** @returns whether it is an agent of the client */
  @Transactional()
  protected async removeFrom(
    actor: DashboardActor,
    { clientId, environment }: Pick<ClientRecord, 'clientId' | 'environment'>,
    id: string,
  ): Promise<boolean> {
    const agent = await this.transaction.manager.findOneBy(RegisteredAgent, {
      clientId,
      id,
      kind: 'registered',
    });
    if (!agent || !(await this.transaction.deleteRow(RegisteredAgent, { id }))) return false;
    const { organizationId } = actor;
    await this.connections.endAllOf({ clientId, environment, organizationId }, id, {
      action: 'agent.disconnect',
      actor,
    });
    await this.auditLog.record({ action: 'agent.remove', actor, target: { name: agent.name, environment } });
    return true;
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

function auditedOf({ allowed_agents, allowed_hosts, login_url, sandbox_login }: AgentSettingsResponse) {
  return { allowed_agents, allowed_hosts, login_url, sandbox_login };
}

function toResponse({ id, name, redirectUris }: RegisteredAgent): AgentResponse {
  return { id, name, redirect_uris: redirectUris };
}
