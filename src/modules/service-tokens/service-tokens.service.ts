import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull } from 'typeorm';
import { SERVICE_SCOPES, type ServiceScope } from '../../infrastructure/auth/index.js';
import {
  DEFAULT_OVERLAP_HOURS,
  generateSecret,
  MAX_OVERLAP_HOURS,
  SecretDigest,
} from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock, HOUR } from '../../infrastructure/time/index.js';
import { isMissing, validateText } from '../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH, ServiceToken } from './service-token.entity.js';

const PREFIX = 'mcs_svc_';

/** A token with its plain text, which is returned only once. */
export interface IssuedServiceToken {
  readonly stored: ServiceToken;
  readonly token: string;
}

/**
 * Service tokens: the credentials of the platform's own services. They belong to no organization. Only commands of operators
 * change them, in processes of their own.
 */
@Injectable()
export class ServiceTokensService {
  constructor(
    private readonly digest: SecretDigest,
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  /** Returns all tokens, oldest first. */
  async list(): Promise<ServiceToken[]> {
    return this.transaction.manager.find(ServiceToken, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** @throws OperatorError if the name or a scope is invalid */
  async create(name: string, scopes: readonly string[]): Promise<IssuedServiceToken> {
    const problem = isMissing(name) ? 'The name is blank.' : validateText('name', name, MAX_NAME_LENGTH);
    if (problem !== undefined) throw new OperatorError(problem);
    if (scopes.length === 0 || !scopes.every(isScope))
      throw new OperatorError(`Each scope must be one of ${SERVICE_SCOPES.join(', ')}.`);
    return this.issue(name, [...new Set(scopes)]);
  }

  /**
   * Issues a token with the same name and scopes. The previous token expires after the overlap.
   *
   * @throws OperatorError if the token is unknown, expired or revoked, or has been rotated already
   */
  @Transactional()
  async rotate(id: string, overlapHours = DEFAULT_OVERLAP_HOURS): Promise<IssuedServiceToken> {
    // Also catches NaN.
    if (!(overlapHours >= 0 && overlapHours <= MAX_OVERLAP_HOURS))
      throw new OperatorError(`The overlap must be between 0 and ${MAX_OVERLAP_HOURS} hours.`);
    const { name, scopes, revokedAt, expiresAt } = await this.lockOrThrow(id);
    if (revokedAt) throw new OperatorError('The service token is revoked.');
    if (expiresAt)
      throw new OperatorError('The service token has been rotated already: rotate its successor.');
    const endsAt = new Date(this.clock.milliseconds() + overlapHours * HOUR);
    await this.transaction.manager.update(ServiceToken, { id }, { expiresAt: endsAt });
    return this.issue(name, scopes);
  }

  /**
   * Idempotent.
   *
   * @returns the token as it was before
   * @throws OperatorError if the token is unknown
   */
  @Transactional()
  async revoke(id: string): Promise<ServiceToken> {
    const token = await this.lockOrThrow(id);
    // Keeps the time of an earlier revocation.
    const changes = { revokedAt: this.clock.now() };
    await this.transaction.manager.update(ServiceToken, { id, revokedAt: IsNull() }, changes);
    return token;
  }

  /** Locks the token until the transaction ends, so that concurrent changes run one after the other. */
  private async lockOrThrow(id: string): Promise<ServiceToken> {
    const token = isUUID(id) ? await this.transaction.lockRow(ServiceToken, { id }) : null;
    if (!token) throw new OperatorError(`There is no service token ${id}.`);
    return token;
  }

  private async issue(name: string, scopes: ServiceScope[]): Promise<IssuedServiceToken> {
    const token = generateSecret(PREFIX);
    const stored: ServiceToken = {
      id: randomUUID(),
      name,
      scopes,
      digest: this.digest.of(token),
      createdAt: this.clock.now(),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
    };
    await this.transaction.manager.insert(ServiceToken, stored);
    return { stored, token };
  }
}

function isScope(scope: string): scope is ServiceScope {
  return (SERVICE_SCOPES as readonly string[]).includes(scope);
}
