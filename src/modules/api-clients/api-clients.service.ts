import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { generateSecret, SecretDigest, Sealer } from '../../infrastructure/crypto/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { ErrorKind, OperatorError } from '../../infrastructure/errors/index.js';
import { Clock, HOUR } from '../../infrastructure/time/index.js';
import type { ApiClient } from './api-client.entity.js';
import { sealedFor, type ApiSecret } from './api-secret.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

export const API_CLIENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'ApiClientNotFound',
  when: 'There is no API client with this `client_id`, or it belongs to another organization.',
  message: 'There is no API client with this client_id.',
});

export interface IssuedCredentials {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly secret: string;
}

/** The previous secret is still accepted, and a client has at most two valid secrets. */
export class RotationInProgressError extends OperatorError {
  static readonly sentence =
    'A rotation is in progress: the previous secret is still accepted. An overlap of 0 hours ends it at once.';

  constructor() {
    super(RotationInProgressError.sentence);
  }
}

export const SECRET_PREFIXES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'mcs_dev_',
  production: 'mcs_live_',
};

export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 7 * 24;

/** API clients and their secrets. */
@Injectable()
export class ApiClientsService {
  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  async list(organizationId?: string): Promise<ApiClient[]> {
    return this.repository.clients(organizationId);
  }

  /** @throws OperatorError if the client is unknown */
  async require(clientId: string): Promise<ApiClient> {
    const client = isUUID(clientId) ? await this.repository.client({ id: clientId }) : null;
    if (!client) throw unknownClient(clientId);
    return client;
  }

  /** @throws OperatorError if the organization has a client for this environment */
  @Transactional()
  async create(organizationId: string, environment: PlatformEnvironment): Promise<IssuedCredentials> {
    const clientId = randomUUID();
    const createdAt = this.clock.now();
    const client: ApiClient = {
      id: clientId,
      organizationId,
      environment,
      name: null,
      enabledOperations: [],
      createdAt,
    };
    if (!(await this.repository.addClient(client))) {
      throw new OperatorError(`The organization already has a ${environment} client.`);
    }
    const secret = await this.addSecret(client, 1, createdAt);
    return { clientId, environment, secret };
  }

  /**
   * Issues a new secret. Both secrets are accepted until the overlap ends. Webhooks are signed with the old one until
   * then, or until `activateSecret`, because `Service-Signature` holds one signature and receivers need time to install
   * the new secret.
   *
   * @param overlapHours 0 (after a leak) to 168
   * @throws RotationInProgressError
   * @throws OperatorError if the client is unknown
   */
  @Transactional()
  async rotateSecret(clientId: string, overlapHours = DEFAULT_OVERLAP_HOURS): Promise<IssuedCredentials> {
    if (!(overlapHours >= 0 && overlapHours <= MAX_OVERLAP_HOURS)) {
      throw new OperatorError(`The overlap must be 0 to ${MAX_OVERLAP_HOURS} hours.`);
    }
    const client = await this.locked(clientId);
    const now = this.clock.now();
    const [current, previous] = await this.repository.secretsOf(clientId);
    if (!current) throw new Error(`The client ${clientId} has no secret`);
    if (previous?.acceptedUntil && previous.acceptedUntil > now) {
      // After a leak, a client must not have to wait for the end of the overlap.
      if (overlapHours > 0) {
        throw new RotationInProgressError();
      }
      await this.repository.changeSecret(previous.id, { acceptedUntil: now });
    }
    const overlapEnds = new Date(now.getTime() + overlapHours * HOUR);
    await this.repository.changeSecret(current.id, { acceptedUntil: overlapEnds });
    const secret = await this.addSecret(client, current.version + 1, overlapEnds);
    return { clientId, environment: client.environment, secret };
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
    const now = this.clock.now();
    const [current] = await this.repository.secretsOf(clientId);
    if (!current || current.signsFrom <= now) return false;
    // Sets a time in the past, so that even a database whose clock is behind uses the secret at once.
    await this.repository.changeSecret(current.id, { signsFrom: current.createdAt });
    return true;
  }

  /** Returns the newest secret of a client in plain text. */
  async revealSecret(client: ApiClient): Promise<string> {
    const [newest] = await this.repository.secretsOf(client.id);
    if (!newest) throw new Error(`The client ${client.id} has no secret`);
    return this.sealer.open(newest.sealed, sealedFor(newest, client));
  }

  /** Allows the client to use a restricted operation. @throws OperatorError if the client is unknown */
  async enableOperation(clientId: string, operation: string): Promise<void> {
    const known = isUUID(clientId) && (await this.repository.enableOperation(clientId, operation));
    if (!known) throw unknownClient(clientId);
  }

  private async locked(clientId: string): Promise<ApiClient> {
    const client = isUUID(clientId) ? await this.repository.lockClient(clientId) : null;
    if (!client) throw unknownClient(clientId);
    return client;
  }

  private async addSecret(client: ApiClient, version: number, signsFrom: Date): Promise<string> {
    const secret = generateSecret(SECRET_PREFIXES[client.environment]);
    const id = randomUUID();
    const row: ApiSecret = {
      id,
      clientId: client.id,
      version,
      digest: this.digest.of(secret),
      sealed: this.sealer.seal(secret, sealedFor({ id, version }, client)),
      createdAt: this.clock.now(),
      signsFrom,
      acceptedUntil: null,
    };
    await this.repository.addSecret(row);
    return secret;
  }
}

function unknownClient(clientId: string): OperatorError {
  return new OperatorError(`There is no API client ${clientId}.`);
}
