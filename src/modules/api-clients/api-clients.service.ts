import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, Not, Or } from 'typeorm';
import type { DashboardActor, DashboardScope } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  DEFAULT_OVERLAP_HOURS,
  generateSecret,
  MAX_OVERLAP_HOURS,
  SecretDigest,
  Sealer,
} from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD, OperatorError } from '../../infrastructure/errors/index.js';
import { isBefore, SecretVersions, type VersionsOverview } from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { AuditLog, changesBetween, type AuditRecord } from '../audit-logs/index.js';
import { ApiClientDirectory } from './api-client-directory.js';
import { ApiClient, ApiSecret, ownerOfSecret } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { API_CLIENT_NOT_FOUND } from './api-clients-errors.js';

export interface IssuedCredentials {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly secret: string;
}

/** A client, and the versions and dates of its accepted secrets, newest first, but not the secrets. */
export interface SecretsOverview extends VersionsOverview {
  readonly client: ApiClient;
  readonly secrets: readonly Pick<
    ApiSecret,
    'version' | 'createdAt' | 'acceptedUntil' | 'lastUsedAt' | 'lastUsedIp'
  >[];
}

const ROTATION_IN_PROGRESS =
  'A rotation is in progress: the previous secret is still accepted. A rotation with an overlap of 0 hours makes a third secret, and ends both others at once.';

const SECRET_PREFIXES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'mcs_dev_',
  production: 'mcs_live_',
};

/**
 * API clients and their secrets. Methods with an `actor` are for dashboard users: they check that the client belongs to the
 * organization, and write the audit log. The others are for operators, whose commands write it.
 */
@Injectable()
export class ApiClientsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: ApiClientsRepository,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly directory: ApiClientDirectory,
    private readonly versions: SecretVersions,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(organizationId?: string): Promise<ApiClient[]> {
    return this.transaction.manager.find(ApiClient, {
      where: organizationId === undefined ? {} : { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** @throws OperatorError if the client is unknown */
  async requireForOperator(clientId: string): Promise<ApiClient> {
    return orNotFound(clientId, await this.transaction.findById(ApiClient, { id: clientId }));
  }

  /** @throws OperatorError if the organization has a client for this environment */
  @Transactional()
  async create(organizationId: string, environment: PlatformEnvironment): Promise<IssuedCredentials> {
    const clientId = randomUUID();
    const createdAt = this.clock.now();
    const client = {
      id: clientId,
      organizationId,
      environment,
      name: null,
      enabledOperations: [],
      signingOnlySince: null,
      createdAt,
    };
    if (!(await this.transaction.insertNew(ApiClient, client, 'api_client_organization_environment_key'))) {
      throw new OperatorError(`The organization already has a ${environment} client.`);
    }
    const secret = await this.addSecret(client, { version: 1, signsFrom: createdAt });
    return { clientId, environment, secret };
  }

  /**
   * Issues a new secret. Both secrets are accepted until the overlap ends. Webhooks are signed with the old one until
   * then, or until `activateSecret`, because `Service-Signature` holds one signature and receivers need time to install
   * the new secret.
   *
   * @param overlapHours 0 (after a leak) to `MAX_OVERLAP_HOURS`
   * @throws OperatorError if the client is unknown, or a rotation is in progress
   */
  @Transactional()
  async rotateSecret(clientId: string, overlapHours = DEFAULT_OVERLAP_HOURS): Promise<IssuedCredentials> {
    if (!(overlapHours >= 0 && overlapHours <= MAX_OVERLAP_HOURS)) {
      throw new OperatorError(`The overlap must be 0 to ${MAX_OVERLAP_HOURS} hours.`);
    }
    const client = await this.locked(clientId);
    const secrets = await this.repository.secretsOf(clientId);
    const inProgress = () => new OperatorError(ROTATION_IN_PROGRESS);
    const next = await this.versions.replace(ApiSecret, secrets, overlapHours, inProgress);
    return { clientId, environment: client.environment, secret: await this.addSecret(client, next) };
  }

  /**
   * Makes the newest secret sign webhooks from now on.
   *
   * @returns whether another secret signed them until now
   * @throws OperatorError if the client is unknown
   */
  @Transactional()
  async activateSecret(clientId: string): Promise<boolean> {
    await this.locked(clientId);
    return this.versions.activate(ApiSecret, await this.repository.secretsOf(clientId));
  }

  /**
   * Allows a client to use a restricted operation. Idempotent.
   *
   * @returns whether it was not allowed before
   * @throws OperatorError if the client is unknown
   */
  @Transactional()
  async enableOperation(clientId: string, operation: string): Promise<boolean> {
    await this.locked(clientId);
    return this.repository.enableOperation(clientId, operation);
  }

  /**
   * Decides what the secret is accepted for. Idempotent.
   *
   * @returns what it was accepted for before
   * @throws OperatorError if the client is unknown
   */
  @Transactional()
  async restrictSecret(clientId: string, use: SecretUse): Promise<SecretUse> {
    const client = await this.locked(clientId);
    const before = secretUseOf(client);
    const signingOnlySince = use === 'signing' ? this.clock.now() : null;
    if (before !== use)
      await this.transaction.manager.update(ApiClient, { id: client.id }, { signingOnlySince });
    return before;
  }

  /** Idempotent. */
  @Transactional()
  async restrictSecretForUser(
    actor: DashboardActor,
    clientId: string,
    use: SecretUse,
    check?: Check<SecretsOverview>,
  ): Promise<void> {
    const client = await this.requireOwn(actor, clientId, check);
    const before = await this.restrictSecret(client.id, use);
    const changes = changesBetween({ secret: before }, { secret: use });
    if (changes.length > 0) await this.record('client.update', actor, client, changes);
  }

  /** Idempotent. */
  @Transactional()
  async rename(
    actor: DashboardActor,
    clientId: string,
    name: string,
    check?: Check<SecretsOverview>,
  ): Promise<void> {
    const client = await this.requireOwn(actor, clientId, check);
    const changes = changesBetween({ name: client.name }, { name });
    const other = { id: client.id, name: Or(IsNull(), Not(name)) };
    if (await this.transaction.updateRow(ApiClient, other, { name }))
      await this.record('client.update', actor, client, changes);
  }

  /** @returns undefined if the organization has no client in this environment */
  async secretsOverview({ actor, environment }: DashboardScope): Promise<SecretsOverview | undefined> {
    return (await this.overviews(actor)).find(({ client }) => client.environment === environment);
  }

  /** @throws ApiError API_CLIENT_NOT_FOUND also if it belongs to another organization or environment */
  async requireOverview(scope: DashboardScope, clientId: string): Promise<SecretsOverview> {
    const overview = await this.secretsOverview(scope);
    if (overview?.client.id !== clientId) throw API_CLIENT_NOT_FOUND.error();
    return overview;
  }

  /** Returns the secret. The same transaction records in the audit log that it was viewed. */
  @Transactional()
  async view(actor: DashboardActor, clientId: string): Promise<string> {
    const client = await this.requireOwn(actor, clientId);
    const [newest] = await this.repository.secretsOf(client.id);
    if (!newest) throw new Error(`The client ${client.id} has no secret`);
    const secret = this.sealer.open(newest.sealed, ownerOfSecret(newest, client));
    await this.record('secret.view', actor, client);
    return secret;
  }

  @Transactional()
  async rotateSecretForUser(
    actor: DashboardActor,
    clientId: string,
    overlapHours: number,
    check?: Check<SecretsOverview>,
  ): Promise<string> {
    const client = await this.requireOwn(actor, clientId, check);
    const { secret } = await this.rotateSecret(client.id, overlapHours).catch((error: unknown) => {
      throw error instanceof OperatorError
        ? INVALID_FIELD.error(error.message, { field: 'overlap_hours' })
        : error;
    });
    await this.record('secret.rotate', actor, client);
    return secret;
  }

  /** Idempotent. */
  @Transactional()
  async activateSecretForUser(
    actor: DashboardActor,
    clientId: string,
    check?: Check<SecretsOverview>,
  ): Promise<void> {
    const client = await this.requireOwn(actor, clientId, check);
    if (await this.activateSecret(client.id)) await this.record('secret.rotate', actor, client);
  }

  private async locked(clientId: string): Promise<ApiClient> {
    const found = isUUID(clientId) && (await this.transaction.lockRow(ApiClient, { id: clientId }));
    return orNotFound(clientId, found);
  }

  private async addSecret(
    client: ApiClient,
    next: Pick<ApiSecret, 'version' | 'signsFrom'>,
  ): Promise<string> {
    const secret = generateSecret(SECRET_PREFIXES[client.environment]);
    const id = randomUUID();
    await this.transaction.manager.insert(ApiSecret, {
      id,
      clientId: client.id,
      ...next,
      digest: this.digest.of(secret),
      sealed: this.sealer.seal(secret, ownerOfSecret({ id, ...next }, client)),
      createdAt: this.clock.now(),
    });
    return secret;
  }

  /**
   * Returns a client of the user's organization. The directory does not find clients of an environment that this process does
   * not serve (`PIN_ENVIRONMENT`).
   *
   * @param check locks the client
   * @throws ApiError NOT_FOUND
   */
  private async requireOwn(
    { organizationId }: DashboardActor,
    clientId: string,
    check?: Check<SecretsOverview>,
  ): Promise<ApiClient> {
    const found = await this.directory.find(clientId);
    const where = { organizationId, id: found?.clientId ?? '' };
    const client = found && (await this.transaction.manager.findOneBy(ApiClient, where));
    if (!client) throw API_CLIENT_NOT_FOUND.error();
    check?.(await this.overviewOf(await this.locked(client.id)));
    return client;
  }

  private async record(
    action: AuditAction,
    actor: DashboardActor,
    client: ApiClient,
    changes: AuditRecord['changes'] = [],
  ): Promise<void> {
    const target = { name: client.id, environment: client.environment };
    await this.auditLog.record({ action, actor, target, changes });
  }

  private async overviews({ organizationId }: DashboardActor): Promise<SecretsOverview[]> {
    const clients = await this.list(organizationId);
    const served = await this.directory.findAll(clients.map(({ id }) => id));
    return Promise.all(clients.filter(({ id }) => served.has(id)).map((each) => this.overviewOf(each)));
  }

  private async overviewOf(client: ApiClient): Promise<SecretsOverview> {
    const now = this.clock.now();
    const secrets = await this.repository.secretsOf(client.id);
    const accepted = secrets.filter(({ acceptedUntil }) => isBefore(now, acceptedUntil));
    return { client, secrets: accepted, ...this.versions.overviewOf(secrets) };
  }
}

/** The uses of a secret by requests and webhooks. */
export const SECRET_USES = ['everything', 'signing'] as const;
export type SecretUse = (typeof SECRET_USES)[number];

export function secretUseOf({ signingOnlySince }: ApiClient): SecretUse {
  return signingOnlySince === null ? 'everything' : 'signing';
}

function orNotFound<Found>(clientId: string, found: Found | false | null): Found {
  if (!found) throw new OperatorError(`There is no API client ${clientId}.`);
  return found;
}
