import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { isLoopback } from '../../../infrastructure/config/index.js';
import { Clock, DAY, HOUR } from '../../../infrastructure/time/index.js';
import { INVALID_CLIENT, INVALID_GRANT } from '../../oauth/index.js';
import type { AgentIssuer } from '../agent-issuer.js';
import { displayNameOf, isRedirectUri, hostOrSchemeOf, type Agent } from './agent.js';
import { AGENT_NOT_ALLOWED, INVALID_REDIRECT_URI, type RegisterAgentRequest } from './agents.dto.js';
import { ClientDocuments, NOT_KNOWN, type UnknownAgent } from './client-documents.js';
import { RegisteredAgent, unconnectedAmong } from './registered-agent.entity.js';

/** Milliseconds, before the time after which unused agents are deleted. */
const KEPT_FOR = 27 * DAY;
/** Agents of an API client that are kept before a user has connected them. Anyone can register them, and open their pages. */
const MAX_KEPT = 1_000;
/** Agents of an API client that are stored although no user has opened their page, or not for a long time. */
const MAX_UNUSED = 10_000;
/** Milliseconds for which no number of others removes an agent: a user may be about to connect it. */
const UNUSED_FOR = HOUR;
const REMOVED_AT_ONCE = 1_000;

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

  /**
   * Keeps an agent that registered itself for four weeks, because a user has opened its page: the agent remembers its `client_id`, and
   * uses it again when the user returns. If too many are kept, those whose page was not opened for the longest time have a day left, or
   * an hour if strangers register very many others.
   */
  async keep({ clientId }: AgentIssuer, { kind, id }: Agent): Promise<void> {
    if (kind !== 'dynamic') return;
    const { manager } = this.transaction;
    const now = this.clock.now();
    const keptUntil = new Date(now.getTime() + KEPT_FOR);
    const unused = { id, unusedSince: Not(IsNull()) };
    if (!(await this.transaction.updateRow(RegisteredAgent, unused, { unusedSince: keptUntil }))) return;
    const excess = await manager.find(RegisteredAgent, {
      select: { id: true },
      where: { clientId, unusedSince: MoreThan(now) },
      order: { unusedSince: 'DESC', id: 'ASC' },
      skip: MAX_KEPT,
      take: MAX_KEPT,
    });
    if (excess.length === 0) return;
    // Not those that a user has connected meanwhile.
    const kept = { id: In(excess.map((agent) => agent.id)), unusedSince: Not(IsNull()) };
    await manager.update(RegisteredAgent, kept, { unusedSince: now });
  }

  /**
   * Returns whether the settings allow the agent now. They can change at any time, so they decide at every step, not only at the first
   * one. `find_usable_mcp_tokens` decides the same about access tokens.
   *
   * @param host or scheme of its redirect address
   */
  isAllowed({ settings }: AgentIssuer, agent: IdentifiedAgent, host: string): boolean {
    if (settings.agents === 'any' || agent.kind === 'registered') return settings.agents !== 'off';
    return settings.agents === 'hosts' && isListed(settings, agent, host);
  }

  /**
   * Checks that the settings still allow an agent at the token endpoint.
   *
   * @throws OAuthError `invalid_grant`, after which agents ask the user again, who sees why
   */
  async requireAllowed(issuer: AgentIssuer, agentId: string, host: string): Promise<void> {
    // Saves a statement: nothing depends on the agent.
    if (issuer.settings.agents === 'any') return;
    const registered = isUUID(agentId) ? await this.findRegistered(issuer.clientId, agentId) : undefined;
    // The agent was removed meanwhile.
    if (isUUID(agentId) && !registered) throw INVALID_CLIENT.error();
    const agent = { id: agentId, kind: registered?.kind ?? ('document' as const) };
    if (!this.isAllowed(issuer, agent, host)) throw INVALID_GRANT.error(AGENT_NOT_ALLOWED);
  }

  /**
   * Returns whether the organization has named the agent: it registered the agent, or listed its host. Anyone can register another
   * agent, or publish its metadata document, with any address (RFC 9700, section 4.11.2).
   */
  isNamed({ settings }: AgentIssuer, agent: IdentifiedAgent, host: string): boolean {
    return agent.kind === 'registered' || isListed(settings, agent, host);
  }

  /**
   * Registers a public client with the addresses that can be used (RFC 7591, section 3).
   *
   * @returns the agent, and the addresses that cannot be used, shortened
   * @throws OAuthError `invalid_redirect_uri` if none can be used
   */
  async register(
    { clientId }: AgentIssuer,
    { client_name: name, redirect_uris: requested }: RegisterAgentRequest,
  ): Promise<{ agent: RegisteredAgent; leftOut: string[] }> {
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
    await this.removeExcess(clientId);
    await this.transaction.manager.insert(RegisteredAgent, agent);
    return { agent, leftOut };
  }

  /** Deletes the agents that have been unused the longest. Otherwise, strangers could fill the table by registering agents. */
  private async removeExcess(clientId: string): Promise<void> {
    const { manager } = this.transaction;
    const unusedSince = LessThan(new Date(this.clock.milliseconds() - UNUSED_FOR));
    const excess = await manager.find(RegisteredAgent, {
      select: { id: true },
      where: { clientId, unusedSince },
      order: { unusedSince: 'DESC', id: 'ASC' },
      skip: MAX_UNUSED,
      take: REMOVED_AT_ONCE,
    });
    // Not those whose page a user has opened meanwhile.
    if (excess.length > 0)
      await manager.delete(RegisteredAgent, {
        id: unconnectedAmong(excess.map(({ id }) => id)),
        unusedSince,
      });
  }

  private findRegistered(clientId: string, id: string): Promise<RegisteredAgent | null> {
    return this.transaction.manager.findOneBy(RegisteredAgent, { clientId, id });
  }
}

type IdentifiedAgent = Pick<Agent, 'id' | 'kind'>;

/** Only the metadata document says whose program listens on the user's own machine. */
function isListed(settings: AgentIssuer['settings'], { id, kind }: IdentifiedAgent, host: string): boolean {
  const isLocal = host.endsWith(':') || isLoopback(host);
  return settings.hosts.includes(isLocal && kind === 'document' ? hostOrSchemeOf(id) : host);
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
