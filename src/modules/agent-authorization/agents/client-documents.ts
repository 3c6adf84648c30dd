import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { Clock, DAY, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { displayNameOf, isRedirectUri, type Agent } from './agent.js';

const MAX_URL_LENGTH = 2_000;
/** Bytes. */
const MAX_DOCUMENT_SIZE = 5 * 1024;
const DEADLINE = 5 * SECOND;
const MIN_CACHED_FOR = 5 * MINUTE;
const MAX_CACHED_FOR = DAY;
const MAX_CACHED_DOCUMENTS = 1_000;
const MAX_REDIRECT_URIS = 50;

interface CachedAgent {
  readonly agent: Agent;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * Reads client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the `client_id` is the URL of a document that
 * describes the agent. Anyone can name any URL, so what is fetched is limited in every respect.
 */
@Injectable()
export class ClientDocuments {
  private readonly cache = new LRUCache<string, CachedAgent>({ max: MAX_CACHED_DOCUMENTS });
  /** The documents that are being fetched: concurrent requests for one share its response. */
  private readonly pending = new Map<string, Promise<Agent | undefined>>();

  constructor(
    private readonly http: HttpClient,
    private readonly clock: Clock,
  ) {}

  /** Returns the agent that the document describes, or undefined if it is not valid or cannot be read. Errors are not cached. */
  async find(url: string): Promise<Agent | undefined> {
    if (!this.isDocumentUrl(url)) return undefined;
    const cached = this.cache.get(url);
    if (cached && cached.until > this.clock.milliseconds()) return cached.agent;
    const pending = this.pending.get(url) ?? this.fetch(url).finally(() => this.pending.delete(url));
    this.pending.set(url, pending);
    return pending;
  }

  /** Returns whether the text is a normal https URL with a path (draft, section 3). */
  private isDocumentUrl(text: string): boolean {
    if (text.length > MAX_URL_LENGTH || !text.startsWith('https://') || text.includes('#')) return false;
    if (this.http.urlProblem(text) !== undefined) return false;
    const { href, pathname } = new URL(text);
    return href === text && pathname !== '/';
  }

  private async fetch(url: string): Promise<Agent | undefined> {
    const { statusCode, text, cacheControl } = await this.http.getDocument({
      url,
      maxBytes: MAX_DOCUMENT_SIZE,
      deadline: DEADLINE,
    });
    if (statusCode !== 200 || !text?.isComplete) return undefined;
    const agent = agentIn(text.text, url);
    if (agent) this.cache.set(url, { agent, until: this.clock.milliseconds() + lifetimeIn(cacheControl) });
    return agent;
  }
}

/** Returns the agent of a valid document (draft, section 4): a public client whose `client_id` is the URL of the document. */
function agentIn(text: string, url: string): Agent | undefined {
  const document = parsed(text);
  const { client_id: id, client_name: name, redirect_uris: uris, ...rest } = document ?? {};
  if (id !== url || !Array.isArray(uris) || uris.length > MAX_REDIRECT_URIS) return undefined;
  const { grant_types: grants, response_types: types } = rest;
  if (!isPublic(rest)) return undefined;
  if (!lists(grants, 'authorization_code') || !lists(types, 'code')) return undefined;
  return {
    id: url,
    kind: 'document',
    name: displayNameOf(name, url),
    redirectUris: uris.filter(isRedirectUri),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the agent works without authentication, also if it prefers one, as ChatGPT does. */
function isPublic(metadata: Readonly<Record<string, unknown>>): boolean {
  const { token_endpoint_auth_method: method = 'none' } = metadata;
  const { token_endpoint_auth_methods_supported: supported = [method] } = metadata;
  return !('client_secret' in metadata) && lists(supported, 'none');
}

/** Returns whether an optional list contains the value. */
function lists(values: unknown, value: string): boolean {
  return values === undefined || (Array.isArray(values) && values.includes(value));
}

/** Returns the milliseconds for which a document is cached. */
function lifetimeIn(cacheControl: string | null): number {
  const seconds = Number(/(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl ?? '')?.[1] ?? 0);
  return Math.min(Math.max(seconds * SECOND, MIN_CACHED_FOR), MAX_CACHED_FOR);
}
