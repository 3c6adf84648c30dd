import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import {
  AccessibleClients,
  requireEnvironment,
  type DashboardActor,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { HttpClient } from '../../infrastructure/http-client/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { firstViolation, isMissing, maximumCharacters } from '../../infrastructure/validation/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';
import { normalUrl } from './endpoint-url.js';
import {
  NOT_PUBLIC,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
  WEBHOOK_ENDPOINT_LIMIT_REACHED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
} from './webhook-endpoint-errors.js';
import { MAX_URL_LENGTH, MAX_ENDPOINTS } from './webhook-endpoint-limits.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import {
  DESCRIPTION_RULES,
  type CreateWebhookEndpointRequest,
  type UpdateWebhookEndpointRequest,
  type WebhookEndpointResponse,
} from './webhook-endpoints.dto.js';
import { WebhookEndpointsRepository, type WebhookTarget } from './webhook-endpoints.repository.js';

/** An endpoint of the caller's organization, and whose events are sent to it. */
export interface OwnedWebhookEndpoint extends WebhookEndpoint {
  readonly client: AttributedClient;
}

const isShortEnough = maximumCharacters(MAX_URL_LENGTH);

/** Where organizations have their webhooks sent to (specification, operation 7). */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly repository: WebhookEndpointsRepository,
    private readonly clients: ApiClientDirectory,
    private readonly callerClients: AccessibleClients,
    private readonly http: HttpClient,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Where the events of a client are sent to. None of them is deleted before the transaction ends that this is
   * called in, so that what is to be sent can be kept with it.
   */
  async ofClient(clientId: string): Promise<WebhookTarget[]> {
    return this.repository.heldOfClient(clientId);
  }

  /**
   * The endpoint that a path names.
   *
   * @throws ApiError WEBHOOK_ENDPOINT_NOT_FOUND when it is absent, or another organization's
   * @throws ApiError ENVIRONMENT_MISMATCH when the caller's access token is for the other environment
   */
  async require(actor: DashboardActor, id: string): Promise<OwnedWebhookEndpoint> {
    const endpoint = existing(isUUID(id) ? await this.repository.one(id) : null);
    const client = await this.clients.find(endpoint.clientId);
    if (client?.organizationId !== actor.organizationId) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    requireEnvironment(actor, client.environment);
    return { ...endpoint, client };
  }

  async list(actor: DashboardActor, environment: PlatformEnvironment): Promise<WebhookEndpointResponse[]> {
    const client = await this.callerClients.in(actor, environment);
    const endpoints = await this.repository.ofClient(client.clientId);
    return endpoints.map((endpoint) => toResponse({ ...endpoint, client }));
  }

  async get(actor: DashboardActor, id: string): Promise<WebhookEndpointResponse> {
    return toResponse(await this.require(actor, id));
  }

  @Transactional()
  async create(
    actor: DashboardActor,
    request: CreateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    const client = await this.callerClients.in(actor, request.environment);
    this.requireGoodFields(request);
    const endpoint: WebhookEndpoint = {
      id: randomUUID(),
      clientId: client.clientId,
      url: normalUrl(request.url),
      description: request.description ?? null,
      createdAt: this.clock.now(),
    };
    const others = await this.repository.lockedOfClient(client.clientId);
    if (others.some(({ url }) => url === endpoint.url)) throw WEBHOOK_ENDPOINT_ALREADY_EXISTS.error();
    if (others.length >= MAX_ENDPOINTS) throw WEBHOOK_ENDPOINT_LIMIT_REACHED.error();
    // Somebody who changes another endpoint may be faster all the same.
    if (!(await this.repository.add(endpoint))) throw WEBHOOK_ENDPOINT_ALREADY_EXISTS.error();
    return this.recorded('webhook.create', actor, { ...endpoint, client });
  }

  @Transactional()
  async update(
    actor: DashboardActor,
    id: string,
    request: UpdateWebhookEndpointRequest,
  ): Promise<WebhookEndpointResponse> {
    const { client } = await this.require(actor, id);
    this.requireGoodFields(request);
    const endpoint = existing(await this.repository.locked(id));
    const url = request.url === undefined ? endpoint.url : normalUrl(request.url);
    const description = request.description === undefined ? endpoint.description : request.description;
    const changed = { ...endpoint, url, description, client };
    if (url === endpoint.url && description === endpoint.description) return toResponse(changed);
    if (!(await this.repository.change(id, { url, description })))
      throw WEBHOOK_ENDPOINT_ALREADY_EXISTS.error();
    return this.recorded('webhook.update', actor, changed);
  }

  @Transactional()
  async delete(actor: DashboardActor, id: string): Promise<WebhookEndpointResponse> {
    const { client } = await this.require(actor, id);
    // Of rivals one finds it, as those left it who changed it.
    const endpoint = existing(await this.repository.locked(id));
    await this.repository.remove(id);
    return this.recorded('webhook.delete', actor, { ...endpoint, client });
  }

  /** @throws ApiError INVALID_FIELD for the first problem in the order of the fields */
  private requireGoodFields({ url, description }: UpdateWebhookEndpointRequest): void {
    const fault =
      (url === undefined ? undefined : this.faultOfUrl(url)) ??
      (isMissing(description)
        ? undefined
        : firstViolation(description, { words: 'description', object: {} }, DESCRIPTION_RULES));
    if (fault !== undefined) throw INVALID_FIELD.error(fault);
  }

  private faultOfUrl(url: string): string | undefined {
    if (this.http.urlProblem(url) !== undefined) return NOT_PUBLIC;
    // The normal form may be longer than what was written: letters beyond ASCII become three or more.
    return isShortEnough(normalUrl(url), { words: 'url', object: {} });
  }

  private async recorded(
    action: AuditAction,
    by: DashboardActor,
    endpoint: OwnedWebhookEndpoint,
  ): Promise<WebhookEndpointResponse> {
    const target = { name: maskedUrl(endpoint.url), environment: endpoint.client.environment };
    await this.auditLog.record({ action, by, target });
    return toResponse(endpoint);
  }
}

function existing(endpoint: WebhookEndpoint | null): WebhookEndpoint {
  if (!endpoint) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
  return endpoint;
}

function toResponse({
  id,
  url,
  description,
  client,
  createdAt,
}: OwnedWebhookEndpoint): WebhookEndpointResponse {
  return { id, url, description, environment: client.environment, created_at: createdAt };
}
