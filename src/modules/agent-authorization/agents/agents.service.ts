import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { INVALID_CLIENT } from '../../oauth/index.js';
import type { AgentProvider } from '../settings/agent-settings.service.js';
import { displayNameOf, hostOf, isLocalUri, isRedirectUri, type Agent } from './agent.js';
import { INVALID_REDIRECT_URI } from './agent-errors.js';
import { ClientDocuments } from './client-documents.js';
import type { RegisterAgentRequest, RegisteredAgentResponse } from './agents.dto.js';
import { RegisteredAgentsRepository } from './registered-agents.repository.js';

/** Knows the agents that may ask for access to users of an API client. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly registered: RegisteredAgentsRepository,
    private readonly documents: ClientDocuments,
    private readonly clock: Clock,
  ) {}

  /** Returns the agent with this `client_id`. */
  async find({ clientId }: AgentProvider, agentId: string): Promise<Agent | undefined> {
    if (!isUUID(agentId)) return this.documents.find(agentId);
    return (await this.registered.find(clientId, agentId)) ?? undefined;
  }

  /**
   * Checks that an agent at the token endpoint is still registered. The codes and tokens of the others name their agent.
   *
   * @throws OAuthError `invalid_client`, after which agents register again
   */
  async requireKnown({ clientId }: AgentProvider, agentId: string): Promise<void> {
    if (isUUID(agentId) && !(await this.registered.find(clientId, agentId))) throw INVALID_CLIENT.error();
  }

  /** Returns whether the settings of the API client allow that the agent returns to the address. */
  isAllowed({ settings }: AgentProvider, agent: Agent, redirectUri: string): boolean {
    if (settings.agents === 'any' || agent.kind === 'registered') return settings.agents !== 'off';
    // Only the metadata document says whose program listens on the user's own machine.
    const host =
      isLocalUri(redirectUri) && agent.kind === 'document' ? hostOf(agent.id) : hostOf(redirectUri);
    return settings.agents === 'hosts' && settings.hosts.includes(host);
  }

  /**
   * Registers a public client (RFC 7591, section 3). Other values than those of the response are replaced (section 3.2.1).
   *
   * @throws OAuthError `invalid_redirect_uri`
   */
  async register(
    { clientId }: AgentProvider,
    { client_name: name, redirect_uris: redirectUris }: RegisterAgentRequest,
  ): Promise<RegisteredAgentResponse> {
    const invalid = redirectUris.find((uri) => !isRedirectUri(uri));
    if (invalid !== undefined) throw INVALID_REDIRECT_URI.error();
    const now = this.clock.now();
    const agent = {
      id: randomUUID(),
      clientId,
      kind: 'dynamic' as const,
      name: displayNameOf(name, redirectUris[0] ?? ''),
      redirectUris,
      createdAt: now,
      unusedSince: now,
    };
    await this.registered.add(agent);
    return {
      client_id: agent.id,
      client_id_issued_at: Math.floor(now.getTime() / SECOND),
      client_name: agent.name,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
}
