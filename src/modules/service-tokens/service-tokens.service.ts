import { Injectable } from '@nestjs/common';
import { SERVICE_SCOPES, type ServiceScope } from '../../infrastructure/auth/index.js';
import { DEFAULT_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import {
  IssuedTokens,
  problemWithName,
  requireOverlap,
  type Issued,
} from '../../infrastructure/issued-tokens/index.js';
import { ServiceToken } from './service-token.entity.js';

const PREFIX = 'mcs_svc_';
const WHAT = 'service token';

export type IssuedServiceToken = Issued<ServiceToken>;

/**
 * Service tokens: the credentials of the platform's own services. They belong to no organization. Only commands of operators
 * change them, in processes of their own.
 */
@Injectable()
export class ServiceTokensService {
  constructor(
    private readonly tokens: IssuedTokens,
    private readonly transaction: Transaction,
  ) {}

  /** Returns all tokens, oldest first. */
  async list(): Promise<ServiceToken[]> {
    return this.transaction.manager.find(ServiceToken, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** @throws OperatorError if the name or a scope is invalid */
  async create(name: string, scopes: readonly string[]): Promise<IssuedServiceToken> {
    const problem = problemWithName(name);
    if (problem !== undefined) throw new OperatorError(problem);
    if (scopes.length === 0 || !scopes.every(isScope))
      throw new OperatorError(`Each scope must be one of ${SERVICE_SCOPES.join(', ')}.`);
    return this.tokens.issue(ServiceToken, PREFIX, { name, scopes: [...new Set(scopes)] });
  }

  /**
   * Issues a token with the same name and scopes. The previous token expires after the overlap.
   *
   * @throws OperatorError if the token is unknown, expired or revoked, or has been rotated already
   */
  @Transactional()
  async rotate(id: string, overlapHours = DEFAULT_OVERLAP_HOURS): Promise<IssuedServiceToken> {
    requireOverlap(overlapHours);
    const token = await this.tokens.lock(ServiceToken, WHAT, id);
    const expiresAt = this.tokens.endOfOverlap(token, overlapHours);
    if (token.revokedAt) throw new OperatorError('The service token is revoked.');
    if (token.expiresAt)
      throw new OperatorError('The service token has been rotated already: rotate its successor.');
    await this.transaction.manager.update(ServiceToken, { id }, { expiresAt });
    return this.tokens.issue(ServiceToken, PREFIX, { name: token.name, scopes: token.scopes });
  }

  /**
   * Idempotent.
   *
   * @returns the token as it was before
   * @throws OperatorError if the token is unknown
   */
  @Transactional()
  async revoke(id: string): Promise<ServiceToken> {
    const token = await this.tokens.lock(ServiceToken, WHAT, id);
    await this.tokens.revoke(ServiceToken, id);
    return token;
  }
}

function isScope(scope: string): scope is ServiceScope {
  return (SERVICE_SCOPES as readonly string[]).includes(scope);
}
