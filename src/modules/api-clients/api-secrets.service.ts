import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';
import { ApiClientDirectory } from './api-client-directory.js';
import type { ApiClient } from './api-client.entity.js';
import type { ApiSecret } from './api-secret.entity.js';
import type { ApiClientResponse, ApiSecretResponse } from './api-clients.dto.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { API_CLIENT_NOT_FOUND, ApiClientsService, RotationInProgressError } from './api-clients.service.js';

export interface ClientCredentialsView {
  readonly client: ApiClientResponse;
  readonly secrets: readonly Pick<ApiSecret, 'version' | 'createdAt' | 'acceptedUntil'>[];
}

@Injectable()
export class ApiSecretsService {
  constructor(
    private readonly clients: ApiClientsService,
    private readonly directory: ApiClientDirectory,
    private readonly repository: ApiClientsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardActor): Promise<ApiClientResponse[]> {
    const clients = await this.clients.list(organizationId);
    const served = await this.directory.findAll(clients.map(({ id }) => id));
    return Promise.all(clients.filter(({ id }) => served.has(id)).map((client) => this.toResponse(client)));
  }

  /** Idempotent. */
  @Transactional()
  async rename(actor: DashboardActor, clientId: string, name: string): Promise<ApiClientResponse> {
    const client = await this.own(actor, clientId);
    if (await this.repository.rename(client.id, name)) await this.record('client.update', actor, client);
    return this.toResponse({ ...client, name });
  }

  /**
   * Returns the client of an environment and when its accepted secrets were created, newest first, but not the secrets.
   *
   * @returns undefined if the organization has no client in this environment
   */
  async credentials(
    { organizationId }: DashboardActor,
    environment: PlatformEnvironment,
  ): Promise<ClientCredentialsView | undefined> {
    const found = await this.directory.ofOrganization(organizationId, environment);
    const client = found && (await this.repository.client({ id: found.clientId }));
    if (!client) return undefined;
    const now = this.clock.now();
    const secrets = await this.repository.secretsOf(client.id);
    return {
      client: await this.toResponse(client),
      secrets: secrets.filter(({ acceptedUntil }) => acceptedUntil === null || acceptedUntil > now),
    };
  }

  /** Returns the secret. The same transaction records in the audit log that it was viewed. */
  @Transactional()
  async view(actor: DashboardActor, clientId: string): Promise<ApiSecretResponse> {
    const client = await this.own(actor, clientId);
    const secret = await this.clients.revealSecret(client);
    await this.record('secret.view', actor, client);
    return { client_id: client.id, environment: client.environment, secret };
  }

  @Transactional()
  async rotate(actor: DashboardActor, clientId: string, overlapHours: number): Promise<ApiSecretResponse> {
    const client = await this.own(actor, clientId);
    const { secret } = await this.clients.rotateSecret(client.id, overlapHours).catch((error: unknown) => {
      throw error instanceof RotationInProgressError ? INVALID_FIELD.error(error.message) : error;
    });
    await this.record('secret.rotate', actor, client);
    return { client_id: client.id, environment: client.environment, secret };
  }

  /** Idempotent. */
  @Transactional()
  async activate(actor: DashboardActor, clientId: string): Promise<ApiClientResponse> {
    const client = await this.own(actor, clientId);
    if (await this.clients.activateSecret(client.id)) await this.record('secret.rotate', actor, client);
    return this.toResponse(client);
  }

  private async own({ organizationId }: DashboardActor, clientId: string): Promise<ApiClient> {
    const found = await this.directory.find(clientId);
    const client = found && (await this.repository.client({ organizationId, id: found.clientId }));
    if (!client) throw API_CLIENT_NOT_FOUND.error();
    return client;
  }

  private async record(action: AuditAction, actor: DashboardActor, client: ApiClient): Promise<void> {
    const target = { name: client.id, environment: client.environment };
    await this.auditLog.record({ action, actor, target });
  }

  private async toResponse(client: ApiClient): Promise<ApiClientResponse> {
    const now = this.clock.now();
    const secrets = await this.repository.secretsOf(client.id);
    const previous = secrets[1]?.acceptedUntil;
    return {
      client_id: client.id,
      environment: client.environment,
      name: client.name,
      enabled_operations: client.enabledOperations,
      created_at: client.createdAt,
      newest_secret_version: secrets[0]?.version ?? 0,
      signing_secret_version: secrets.find(({ signsFrom }) => signsFrom <= now)?.version ?? 0,
      overlap_ends_at: previous && previous > now ? previous : null,
    };
  }
}
