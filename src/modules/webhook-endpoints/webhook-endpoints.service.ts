import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  mayPerform,
  requireEnvironment,
  type DashboardActor,
  type DashboardScope,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Transaction,
  Transactional,
  unlessDuplicate,
  type Check,
} from '../../infrastructure/database/index.js';
import { INVALID_FIELD, OperatorError } from '../../infrastructure/errors/index.js';
import { EVENT_NAMES, type EventName } from '../../infrastructure/event-catalog/index.js';
import { dashboardPath, type AttributedClient } from '../../infrastructure/http/index.js';
import { normalUrl } from '../../infrastructure/http-client/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { DEFAULT_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { AuditLog, changesBetween, type AuditRecord } from '../audit-logs/index.js';
import type { FilterOption, WebhookFilterOptions } from '../request-logs/index.js';
import { EndpointKeys, type KeysOverview } from './endpoint-keys.js';
import { EndpointLanes, type EndpointHealth } from './endpoint-lanes.js';
import { MAX_HEADERS, mergeHeaders, type HeaderChanges } from './own-headers.js';
import type { Signing } from './webhook-endpoint-key.entity.js';
import {
  type CreateWebhookEndpointRequest,
  type SettableStatus,
  type UpdateWebhookEndpointRequest,
  type WebhookEndpointListResponse,
  type WebhookEndpointResponse,
} from './webhook-endpoints.dto.js';
import {
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
  WEBHOOK_ENDPOINT_DISABLED,
  WEBHOOK_ENDPOINT_LIMIT_REACHED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
} from './webhook-endpoints-errors.js';
import { MAX_ENDPOINTS, WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { ENDPOINT_PERMISSIONS } from './webhook-endpoints.capability.js';

const SAME_URL = 'webhook_endpoint_client_url_key';

/** An endpoint with the client whose events it receives. */
export interface OwnedWebhookEndpoint extends WebhookEndpoint {
  readonly client: AttributedClient;
}

/** Manages the webhook endpoints of organizations (specification, operation 7). */
@Injectable()
export class WebhookEndpointsService implements WebhookFilterOptions {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: WebhookEndpointsRepository,
    private readonly lanes: EndpointLanes,
    private readonly keys: EndpointKeys,
    private readonly clients: ApiClientDirectory,
    private readonly accessibleClients: AccessibleClients,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns the endpoints of a client for operators, with secrets in the URLs masked. */
  async ofClientMasked(client: AttributedClient): Promise<WebhookEndpointResponse[]> {
    const endpoints = await this.ofClient(client.clientId);
    return this.toResponses(
      endpoints.map((endpoint) => ({ ...endpoint, url: maskedUrl(endpoint.url), client })),
    );
  }

  /**
   * Returns an endpoint for operators, with secrets in the URL masked.
   *
   * @throws OperatorError if there is no such endpoint
   */
  async requireForOperator(id: string): Promise<OwnedWebhookEndpoint & { readonly client: ClientRecord }> {
    const endpoint = await this.find(id);
    const client = endpoint && (await this.clients.find(endpoint.clientId));
    if (!client) throw new OperatorError(`There is no webhook endpoint ${id}.`);
    return { ...endpoint, url: maskedUrl(endpoint.url), client };
  }

  /**
   * Pauses, resumes or enables an endpoint. Attempts in flight continue.
   *
   * @returns whether this changed anything
   */
  @Transactional()
  async setStatus(id: string, status: SettableStatus): Promise<boolean> {
    const now = this.clock.now();
    const wasDisabled = await this.repository.endDisabled(id, now);
    // Disabling an endpoint pauses its lane.
    const changed = status === 'paused' ? await this.lanes.pause(id, now) : await this.lanes.resume(id);
    return wasDisabled || changed;
  }

  /**
   * Returns the endpoint with the ID from the request path.
   *
   * @throws ApiError WEBHOOK_ENDPOINT_NOT_FOUND if it does not exist or belongs to another organization
   * @throws ApiError ENVIRONMENT_MISMATCH if the actor's access token is for the other environment
   */
  async require(actor: DashboardActor, id: string): Promise<OwnedWebhookEndpoint> {
    const endpoint = WEBHOOK_ENDPOINT_NOT_FOUND.requireFound(await this.find(id));
    const client = await this.clients.find(endpoint.clientId);
    if (client?.organizationId !== actor.organizationId) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    requireEnvironment(actor, client.environment);
    return { ...endpoint, client };
  }

  /**
   * Returns the endpoint with the ID from the path of a page that shows one environment.
   *
   * @throws ApiError WEBHOOK_ENDPOINT_NOT_FOUND also if it belongs to the other environment
   */
  async requireIn({ actor, environment }: DashboardScope, id: string): Promise<OwnedWebhookEndpoint> {
    const endpoint = await this.require(actor, id);
    if (endpoint.client.environment !== environment) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    return endpoint;
  }

  /**
   * Returns the endpoint with the ID from the request path, for an operation that queues deliveries, and locks it as its deletion
   * does: both wait for the audit log afterwards.
   *
   * @throws ApiError like `require()`, and WEBHOOK_ENDPOINT_DISABLED
   */
  async lockActive(actor: DashboardActor, id: string): Promise<OwnedWebhookEndpoint> {
    const { client } = await this.require(actor, id);
    const endpoint = { ...(await this.lock(id)), client };
    if (endpoint.disabledAt) throw WEBHOOK_ENDPOINT_DISABLED.error();
    return endpoint;
  }

  async list(actor: DashboardActor, environment: PlatformEnvironment): Promise<WebhookEndpointListResponse> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    const endpoints = await this.ofClient(client.clientId);
    return {
      data: await this.toResponses(endpoints.map((endpoint) => maskedFor(actor, { ...endpoint, client }))),
    };
  }

  async endpointOptions(actor: DashboardActor, environment: PlatformEnvironment): Promise<FilterOption[]> {
    const { data } = await this.list(actor, environment);
    return data.map(({ id, url }) => ({ value: id, label: url.replace('https://', '') }));
  }

  eventOptions(): FilterOption[] {
    return EVENT_NAMES.map((name) => ({ value: name, label: name }));
  }

  async urlOf(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    endpointId: string,
  ): Promise<string | undefined> {
    const client = await this.accessibleClients.forEnvironment(actor, environment);
    const endpoint = await this.find(endpointId);
    return endpoint?.clientId === client.clientId ? maskedFor(actor, { ...endpoint, client }).url : undefined;
  }

  async get(actor: DashboardActor, id: string): Promise<WebhookEndpointResponse> {
    return this.toResponse(maskedFor(actor, await this.require(actor, id)));
  }

  @Transactional()
  async create(
    actor: DashboardActor,
    request: CreateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    const client = await this.accessibleClients.forEnvironment(actor, request.environment);
    const endpoint: WebhookEndpoint = {
      id: randomUUID(),
      clientId: client.clientId,
      url: normalUrl(request.url),
      description: request.description ?? null,
      createdAt: this.clock.now(),
      events: normalEvents(request.events),
      disabledAt: null,
      signingRevision: 0,
      headerNames: [],
    };
    await this.transaction.lock(`webhook-endpoints:${client.clientId}`);
    const others = await this.ofClient(client.clientId);
    const same = others.find(({ url }) => url === endpoint.url);
    if (same) {
      const inTheWay = {
        path: dashboardPath(request.environment, 'webhook-endpoints', same.id),
        name: same.description ?? same.url,
      };
      throw WEBHOOK_ENDPOINT_ALREADY_EXISTS.error(undefined, { field: 'url', inTheWay });
    }
    if (others.length >= MAX_ENDPOINTS) {
      const inTheWay = {
        path: dashboardPath(request.environment, 'webhook-endpoints'),
        name: 'Webhook endpoints',
      };
      throw WEBHOOK_ENDPOINT_LIMIT_REACHED.error(undefined, { field: 'url', inTheWay });
    }
    // The lock does not cover updates: one of them may have taken the URL in the meantime.
    await this.write(() => this.transaction.manager.insert(WebhookEndpoint, endpoint));
    await this.lanes.open(endpoint.id);
    const { signing = 'client', headers } = request;
    if (headers) await this.keys.setHeaders(endpoint.id, endpoint.url, mergeHeaders({}, headers));
    const key = signing === 'client' ? undefined : await this.keys.replace(endpoint, signing, 0);
    if (request.status === 'paused') await this.setStatus(endpoint.id, 'paused');
    await this.record('webhook.create', actor, { ...endpoint, client });
    return this.withKey(endpoint.id, client, key);
  }

  /** @param check throws if the endpoint, which is locked, is not as expected */
  @Transactional()
  async update(
    actor: DashboardActor,
    id: string,
    request: UpdateWebhookEndpointRequest,
    check?: Check<WebhookEndpointResponse>,
  ): Promise<WebhookEndpointResponse> {
    const { client } = await this.require(actor, id);
    const endpoint = await this.lock(id);
    const before = await this.toResponse({ ...endpoint, client });
    check?.(before);
    const changes = changesOf(endpoint, {
      url: request.url === undefined ? undefined : normalUrl(request.url),
      description: request.description,
      events: request.events === undefined ? undefined : normalEvents(request.events),
    });
    const hasChanges = Object.keys(changes).length > 0;
    if (hasChanges) await this.write(() => this.transaction.manager.update(WebhookEndpoint, { id }, changes));
    if (changes.url !== undefined) await this.lanes.forgetReceiver(id);
    const hasNewHeaders = await this.changeHeaders(endpoint, changes.url, request.headers);
    const hasNewSigning = request.signing !== undefined && request.signing !== before.signing;
    const key = hasNewSigning
      ? await this.keys.replace(endpoint, request.signing as Signing, DEFAULT_OVERLAP_HOURS)
      : undefined;
    const hasNewStatus = request.status !== undefined && (await this.setStatus(id, request.status));
    const after = await this.withKey(id, client, key);
    if (hasChanges || hasNewHeaders || hasNewSigning || hasNewStatus) {
      const audited = changesBetween(auditedOf(before), auditedOf(after));
      await this.record('webhook.update', actor, { ...endpoint, ...changes, client }, audited);
    }
    return after;
  }

  /** Returns the endpoint as it is stored now, with the key that was made. */
  async withKey(id: string, client: AttributedClient, key?: string): Promise<WebhookEndpointResponse> {
    const endpoint = WEBHOOK_ENDPOINT_NOT_FOUND.requireFound(await this.find(id));
    return { ...(await this.toResponse({ ...endpoint, client })), ...(key && { signing_key: key }) };
  }

  /**
   * Changes the headers. A URL with another origin gets none of the old ones, because it would reveal values that are never returned. With
   * another path or query on the same origin, which has received the headers before, they stay.
   *
   * @param url the new one, if it changes
   * @returns whether this changed anything; the same value again counts as a change
   */
  private async changeHeaders(
    endpoint: WebhookEndpoint,
    url = endpoint.url,
    changes: HeaderChanges | null = {},
  ): Promise<boolean> {
    const isNewReceiver = new URL(url).origin !== new URL(endpoint.url).origin;
    const hasLost = isNewReceiver && endpoint.headerNames.length > 0;
    if (!hasLost && changes && Object.keys(changes).length === 0) return false;
    const kept = isNewReceiver || !changes ? {} : await this.keys.headersOf(endpoint.id);
    const headers = mergeHeaders(kept, changes ?? {});
    if (Object.keys(headers).length > MAX_HEADERS)
      throw INVALID_FIELD.error(MESSAGES.maxKeys('headers', MAX_HEADERS), { field: 'headers' });
    await this.keys.setHeaders(endpoint.id, url, headers);
    return true;
  }

  /**
   * Deletes an endpoint. All who publish to it wait for the deletion, so one with a long queue is only hidden, which has the same effect
   * for everybody; `dropDeliveries` removes it.
   *
   * @param check like `update`
   */
  @Transactional()
  async delete(
    actor: DashboardActor,
    id: string,
    check?: Check<WebhookEndpoint>,
  ): Promise<WebhookEndpointResponse> {
    const { client } = await this.require(actor, id);
    // The lock lets only one of several concurrent deletions find the endpoint, and makes earlier updates visible to it.
    const endpoint = { ...(await this.lock(id, check)), client };
    const response = await this.toResponse(endpoint);
    // The entry is written before the deletion: publications must not wait for the organization's audit log, too.
    await this.record('webhook.delete', actor, endpoint);
    if (await this.lanes.hasLongQueue(id)) {
      const now = this.clock.now();
      await this.repository.hide(id, now);
      await this.lanes.pause(id, now);
      await this.lanes.noteNotified(id, now);
    } else {
      await this.transaction.manager.delete(WebhookEndpoint, { id });
    }
    return response;
  }

  /**
   * Drops a page of the deliveries of a disabled endpoint, and removes a deleted one with the last page. A recovery finds the events.
   *
   * @returns whether there may be more
   */
  @Transactional()
  async dropDeliveries(id: string): Promise<boolean> {
    const { oldest, hasMore } = await this.lanes.dropDeliveries(id);
    if (oldest) await this.repository.extendMissed(id, oldest);
    if (!hasMore) await this.repository.removeHidden(id);
    return hasMore;
  }

  /** Records in the audit log what the user did to the endpoint. */
  async record(
    action: AuditAction,
    actor: DashboardActor,
    endpoint: OwnedWebhookEndpoint,
    changes: AuditRecord['changes'] = [],
  ): Promise<void> {
    const target = { name: maskedUrl(endpoint.url), environment: endpoint.client.environment };
    await this.auditLog.record({ action, actor, target, changes });
  }

  private find(id: string): Promise<WebhookEndpoint | null> {
    return this.transaction.findById(WebhookEndpoint, { id });
  }

  /** Returns the endpoint and locks it, so that concurrent changes run one after the other. */
  async lock(id: string, check?: Check<WebhookEndpoint>): Promise<WebhookEndpoint> {
    return WEBHOOK_ENDPOINT_NOT_FOUND.requireFound(
      await this.transaction.lockRow(WebhookEndpoint, { id }, check),
    );
  }

  private ofClient(clientId: string): Promise<WebhookEndpoint[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    return this.transaction.manager.find(WebhookEndpoint, { where: { clientId }, order });
  }

  /** @throws ApiError WEBHOOK_ENDPOINT_ALREADY_EXISTS if the client has an endpoint with this URL */
  private async write(change: () => Promise<unknown>): Promise<void> {
    if (!(await unlessDuplicate(change, SAME_URL)))
      throw WEBHOOK_ENDPOINT_ALREADY_EXISTS.error(undefined, { field: 'url' });
  }

  private async toResponse(endpoint: OwnedWebhookEndpoint): Promise<WebhookEndpointResponse> {
    return (await this.toResponses([endpoint]))[0] as WebhookEndpointResponse;
  }

  private async toResponses(endpoints: readonly OwnedWebhookEndpoint[]): Promise<WebhookEndpointResponse[]> {
    const health = await this.lanes.healthOf(endpoints.map(({ id }) => id));
    const keys = await this.keys.overviewsOf(endpoints);
    return endpoints.map((endpoint) => toResponse(endpoint, keys.get(endpoint.id), health.get(endpoint.id)));
  }
}

/** Returns the properties of an endpoint that the audit log shows, without secrets. */
function auditedOf({
  url,
  description,
  events,
  status,
  signing,
  header_names: headers,
}: WebhookEndpointResponse) {
  return { url: maskedUrl(url), description, events: events ?? 'all', status, signing, headers };
}

/** Masks secrets in the URL for users and programs that may not change the endpoint. */
function maskedFor(actor: DashboardActor, endpoint: OwnedWebhookEndpoint): OwnedWebhookEndpoint {
  const { credential } = actor;
  const mayChange =
    mayPerform(actor, ENDPOINT_PERMISSIONS.updateWebhookEndpoint) &&
    (credential.kind === 'session' || credential.scopes.has('webhook_endpoints:write'));
  return mayChange ? endpoint : { ...endpoint, url: maskedUrl(endpoint.url) };
}

/** Returns the requested values that differ from those of the endpoint. An undefined value is not requested. */
function changesOf(
  endpoint: WebhookEndpoint,
  requested: { readonly [Name in 'url' | 'description' | 'events']: WebhookEndpoint[Name] | undefined },
): Partial<WebhookEndpoint> {
  const changed = Object.entries(requested).filter(
    ([name, value]) =>
      value !== undefined && !isDeepStrictEqual(value, endpoint[name as keyof typeof requested]),
  );
  return Object.fromEntries(changed);
}

function toResponse(
  endpoint: OwnedWebhookEndpoint,
  keys: KeysOverview | undefined,
  health: EndpointHealth | undefined,
): WebhookEndpointResponse {
  const { id, url, description, client, createdAt, events, disabledAt, headerNames } = endpoint;
  return {
    id,
    url,
    description,
    environment: client.environment,
    created_at: createdAt,
    events,
    status: disabledAt ? 'disabled' : health?.paused ? 'paused' : 'enabled',
    health: {
      last_success_at: health?.lastSuccessAt ?? null,
      consecutive_failures: health?.consecutiveFailures ?? 0,
      throttled: health?.throttled ?? false,
      disabled_reason: disabledAt ? 'failing' : null,
    },
    signing: keys?.signing ?? 'client',
    public_key: keys?.publicKey ?? null,
    previous_key_expires_at: keys?.overlapEndsAt ?? null,
    header_names: headerNames,
  };
}

/** Returns the names in the order of the catalog, each once. */
function normalEvents(events: readonly string[] | null | undefined): EventName[] | null {
  return events ? EVENT_NAMES.filter((name) => events.includes(name)) : null;
}
