import { Injectable, Logger } from '@nestjs/common';
import { BoundedCache } from '../../../infrastructure/caching/index.js';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { Clock, DAY, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { parsedJson } from '../../../infrastructure/config/index.js';
import { displayNameOf, hostOrSchemeOf, isRedirectUri, type Agent } from './agent.js';

const MAX_URL_LENGTH = 2_000;
/** Bytes. */
const MAX_DOCUMENT_SIZE = 5 * 1024;
const DEADLINE = 5 * SECOND;
const MIN_CACHED_FOR = 5 * MINUTE;
const MAX_CACHED_FOR = DAY;
const MAX_CACHED_DOCUMENTS = 1_000;
const MAX_REDIRECT_URIS = 50;
/** How long the last good copy of a document that cannot be read is used, after its lifetime has ended. */
const COPY_LIFETIME = DAY;
/** Milliseconds after which a document that could not be read is requested again. */
const RETRY_AFTER = MINUTE;
/** Documents of one host that are fetched at the same time. Those that were read before are always fetched. */
const FETCHES_PER_HOST = 8;
/** The document no longer exists. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

interface CachedAgent {
  readonly agent: Agent;
  /** On the monotonic clock. Then the document is requested again. */
  readonly until: number;
  /** On the monotonic clock, if it cannot be read until then. */
  readonly usableUntil: number;
}

/** Why there is no agent, in words for the user. */
export interface UnknownAgent {
  readonly problem: string;
}

interface InvalidDocument extends UnknownAgent {
  /** Whether the document is one of an agent, and not an error page. */
  readonly isObject: boolean;
}

interface Fetching {
  readonly host: string;
  readonly result: Promise<Agent | UnknownAgent>;
}

/**
 * Reads client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the `client_id` is the URL of a document that
 * describes the agent. Anyone can name any URL, so what is fetched is limited in every respect.
 */
@Injectable()
export class ClientDocuments {
  private readonly logger = new Logger('Agents');
  private readonly cache = new BoundedCache<CachedAgent>({ max: MAX_CACHED_DOCUMENTS });
  /** The documents that are being fetched: concurrent requests for one share its response. */
  private readonly pending = new Map<string, Fetching>();

  constructor(
    private readonly http: HttpClient,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the agent that the document describes, or why there is none. If the document cannot be read, its last good copy is
   * used for a day. Errors are not cached.
   */
  async find(url: string): Promise<Agent | UnknownAgent> {
    if (!this.isDocumentUrl(url)) return { problem: NOT_KNOWN };
    const cached = this.cache.get(url);
    if (cached && cached.until > this.clock.monotonic()) return cached.agent;
    const pending = this.pending.get(url);
    if (pending) return pending.result;
    const host = hostOrSchemeOf(url);
    const sameHost = [...this.pending.values()].filter((each) => each.host === host);
    if (!cached && sameHost.length >= FETCHES_PER_HOST)
      return temporarily(`the service is reading other documents of ${host}`);
    const result = this.fetch(url, cached).finally(() => this.pending.delete(url));
    this.pending.set(url, { host, result });
    return result;
  }

  /** Returns whether the text is a normal https URL with a path (draft, section 3). */
  private isDocumentUrl(text: string): boolean {
    if (text.length > MAX_URL_LENGTH || !text.startsWith('https://') || text.includes('#')) return false;
    if (this.http.urlProblem(text) !== undefined) return false;
    const { href, pathname } = new URL(text);
    return href === text && pathname !== '/';
  }

  private async fetch(url: string, cached: CachedAgent | undefined): Promise<Agent | UnknownAgent> {
    const { statusCode, text, problem, cacheControl } = await this.http.getDocument({
      url,
      maxBytes: MAX_DOCUMENT_SIZE,
      deadline: DEADLINE,
    });
    const now = this.clock.monotonic();
    const read = text && problem === null ? agentIn(text.text, url) : undefined;
    if (read && !('problem' in read)) {
      const until = now + lifetimeIn(cacheControl);
      this.cache.set(url, { agent: read, until, usableUntil: until + COPY_LIFETIME });
      return read;
    }
    const host = hostOrSchemeOf(url);
    const hasStatus = statusCode !== 0 && statusCode !== 200;
    const reason = hasStatus
      ? `${host} responded with status ${statusCode}`
      : `the document at ${host} ${read ? `is not valid: ${read.problem}` : `cannot be read: ${asPart(problem)}`}`;
    const isWithdrawn = GONE.has(statusCode) || read?.isObject === true;
    const usesCopy = cached !== undefined && cached.usableUntil > now && !isWithdrawn;
    this.logger.warn('The metadata document of an agent cannot be used', {
      host,
      statusCode,
      reason,
      usesCopy,
    });
    if (usesCopy) {
      this.cache.set(url, { ...cached, until: now + RETRY_AFTER });
      return cached.agent;
    }
    this.cache.delete(url);
    const isIncomplete = text !== null && problem !== null;
    const isTemporary = statusCode === 0 || (statusCode >= 400 && !GONE.has(statusCode)) || isIncomplete;
    return isTemporary ? temporarily(reason) : { problem: `The agent is not known: ${reason}. ${ADD_AGAIN}` };
  }
}

const ADD_AGAIN = 'Remove the connector in the agent, and add it again.';
export const NOT_KNOWN = `The agent is not known. ${ADD_AGAIN}`;

function temporarily(reason: string): UnknownAgent {
  return { problem: `The agent cannot be identified now: ${reason}. Try again in a few minutes.` };
}

/** Returns a sentence as a part of another one. */
function asPart(sentence: string | null): string {
  const text = sentence?.replace(/\.$/, '') ?? '';
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns the agent of a valid document (draft, section 4): a public client whose `client_id` is the URL of the document. */
function agentIn(text: string, url: string): Agent | InvalidDocument {
  const document = parsedJson(text) as Readonly<Record<string, unknown>> | null | undefined;
  if (typeof document !== 'object' || document === null)
    return { problem: 'it is not a JSON object', isObject: false };
  const invalid = (problem: string): InvalidDocument => ({ problem, isObject: true });
  const { client_id: id, client_name: name, redirect_uris: uris, ...rest } = document;
  if (id !== url) return invalid('its client_id is not its address');
  if (!Array.isArray(uris) || uris.length > MAX_REDIRECT_URIS)
    return invalid(`its redirect_uris are not a list of at most ${MAX_REDIRECT_URIS} addresses`);
  const { grant_types: grants, response_types: types } = rest;
  if (!isPublic(rest)) return invalid('it requires the agent to have a secret or a key');
  if (!lists(grants, 'authorization_code') || !lists(types, 'code'))
    return invalid('it does not list the authorization code grant');
  return {
    id: url,
    kind: 'document',
    name: displayNameOf(name, url),
    redirectUris: uris.filter(isRedirectUri),
  };
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
