import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Transaction } from '../../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { INVALID_CLIENT } from '../../oauth/index.js';
import type { AgentIssuer } from '../settings/agent-settings.service.js';
import { displayNameOf, isLocalUri, isRedirectUri, hostOrSchemeOf, type Agent } from './agent.js';
import {
  INVALID_REDIRECT_URI,
  type RegisterAgentRequest,
  type RegisteredAgentResponse,
} from './agents.dto.js';
import { ClientDocuments, NOT_KNOWN, type UnknownAgent } from './client-documents.js';
import { RegisteredAgent } from './registered-agent.entity.js';

/** Knows the agents that may ask for access to users of an API client. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly documents: ClientDocuments,
    private readonly clock: Clock,
  ) {}

  /** Returns the agent with this `client_id`, or why there is none. */
  async find({ clientId }: AgentIssuer, agentId: string): Promise<Agent | UnknownAgent> {
    if (!isUUID(agentId)) return this.documents.find(agentId);
    return (await this.findRegistered(clientId, agentId)) ?? { problem: NOT_KNOWN };
  }

  /**
   * Checks that an agent at the token endpoint is still registered. The codes and tokens of the others name their agent.
   *
   * @throws OAuthError `invalid_client`, after which agents register again
   */
  async requireKnown({ clientId }: AgentIssuer, agentId: string): Promise<void> {
    if (isUUID(agentId) && !(await this.findRegistered(clientId, agentId))) throw INVALID_CLIENT.error();
  }

  isAllowed({ settings }: AgentIssuer, agent: Agent, redirectUri: string): boolean {
    if (settings.agents === 'any' || agent.kind === 'registered') return settings.agents !== 'off';
    // Only the metadata document says whose program listens on the user's own machine.
    const address = isLocalUri(redirectUri) && agent.kind === 'document' ? agent.id : redirectUri;
    return settings.agents === 'hosts' && settings.hosts.includes(hostOrSchemeOf(address));
  }

  /**
   * Registers a public client with the addresses that can be used (RFC 7591, section 3). Other values than those of the response are
   * replaced (section 3.2.1).
   *
   * @throws OAuthError `invalid_redirect_uri` if none can be used
   */
  async register(
    { clientId }: AgentIssuer,
    { client_name: name, redirect_uris: requested }: RegisterAgentRequest,
  ): Promise<RegisteredAgentResponse> {
    const redirectUris = usableOf(requested);
    const leftOut = [...new Set(requested)].filter((uri) => !redirectUris.includes(uri)).map(shortened);
    if (redirectUris.length === 0)
      throw INVALID_REDIRECT_URI.error(`${INVALID_REDIRECT_URI.message} Refused: ${leftOut.join(', ')}`);
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
    await this.transaction.manager.insert(RegisteredAgent, agent);
    return {
      client_id: agent.id,
      client_id_issued_at: Math.floor(now.getTime() / SECOND),
      client_name: agent.name,
      redirect_uris: redirectUris,
      ...(leftOut.length > 0 && { redirect_uris_left_out: leftOut }),
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  private findRegistered(clientId: string, id: string): Promise<RegisteredAgent | null> {
    return this.transaction.manager.findOneBy(RegisteredAgent, { clientId, id });
  }
}

const MAX_REDIRECT_URIS = 10;
/** Characters of all addresses together. Anyone can register an agent, and the usual ones have fewer than 500. */
const MAX_TOTAL_LENGTH = 4_000;
/** Characters of an address that was left out. */
const SHOWN_LENGTH = 200;

/** Returns the addresses that can be used, each once, as far as they fit. */
function usableOf(uris: readonly string[]): string[] {
  let total = 0;
  return [...new Set(uris)]
    .filter((uri) => isRedirectUri(uri) && (total += uri.length) <= MAX_TOTAL_LENGTH)
    .slice(0, MAX_REDIRECT_URIS);
}

function shortened(uri: string): string {
  return uri.length <= SHOWN_LENGTH ? uri : `${uri.slice(0, SHOWN_LENGTH).toWellFormed()}…`;
}
