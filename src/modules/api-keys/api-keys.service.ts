import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan, Not } from 'typeorm';
import { isScope, SCOPES, type DashboardScope } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { DEFAULT_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD, OperatorError } from '../../infrastructure/errors/index.js';
import {
  isBefore,
  IssuedTokens,
  problemWithName,
  requireOverlap,
  type Issued,
} from '../../infrastructure/issued-tokens/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import { AuditLog, changesBetween, OPERATOR, type AuditRecord } from '../audit-logs/index.js';
import { ApiKey } from './api-key.entity.js';
import { API_KEY_NOT_FOUND } from './api-keys-errors.js';
import { linesOf, MAX_DAYS, MAX_IP_RANGES, notARange } from './api-keys.dto.js';
import { normalRange } from './ip-ranges.js';
import type { KeyTrust } from './key-trust.js';

/** The properties that the creator of a key chooses. */
export interface KeyProperties {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly ipRanges?: readonly string[];
  /** If set, the key is never shown: the program sends tokens of another issuer instead. */
  readonly trust?: KeyTrust;
}

export interface NewKey extends KeyProperties {
  /** Without it, the key does not expire. */
  readonly expiresInDays?: number | undefined;
}

export type IssuedKey = Issued<ApiKey>;

const WHAT = 'API key';
const PREFIXES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'mck_dev_',
  production: 'mck_live_',
};
/** Maximum number of keys of an API client. Keys that were replaced are not counted. */
const MAX_ACTIVE_KEYS = 50;
/** Maximum number of replaced keys of an API client that are still accepted: all can be rotated twice during one overlap. */
const MAX_REPLACED_KEYS = 2 * MAX_ACTIVE_KEYS;

/** A problem of a key that somebody wants to create or change. */
class KeyProblem extends OperatorError {
  constructor(
    message: string,
    readonly field: string,
  ) {
    super(message);
  }
}

/** Returns whether a key is accepted, as far as that does not depend on the request. */
export function isActive({ revokedAt, expiresAt }: ApiKey, now: Date): boolean {
  return revokedAt === null && isBefore(now, expiresAt);
}

/**
 * API keys. Methods with an `actor` are for dashboard users: they check that the key belongs to the organization, and write the audit
 * log. The others are for operators, whose commands write it.
 */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly tokens: IssuedTokens,
    private readonly transaction: Transaction,
    private readonly clients: ApiClientDirectory,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns the keys of a client that have not ended, oldest first. */
  async list(clientId: string): Promise<ApiKey[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    const own = { clientId, revokedAt: IsNull() };
    // Until it is rotated or ended, an expired key keeps its name.
    const where = [
      { ...own, rotatedAt: IsNull() },
      { ...own, expiresAt: MoreThan(this.clock.now()) },
    ];
    return this.transaction.manager.find(ApiKey, { where, order });
  }

  /** @throws OperatorError if the client is unknown, a property is invalid, or the client has too many keys */
  @Transactional()
  async create(
    clientId: string,
    { expiresInDays, trust, ...properties }: NewKey,
    creator: { readonly userId?: string; readonly email: string } = OPERATOR,
  ): Promise<IssuedKey> {
    const client = await this.requireClient(clientId);
    const checked = checkedProperties(properties);
    if (expiresInDays !== undefined && !(expiresInDays >= 1 && expiresInDays <= MAX_DAYS))
      throw new KeyProblem(`A key must expire in 1 to ${MAX_DAYS} days.`, 'expires_in_days');
    await this.lockKeysOf(client.clientId);
    const now = this.clock.now();
    const current = (await this.list(client.clientId)).filter(({ rotatedAt }) => rotatedAt === null);
    if (current.filter((key) => isActive(key, now)).length >= MAX_ACTIVE_KEYS)
      throw new KeyProblem(
        `The API client has ${MAX_ACTIVE_KEYS} keys, which is the maximum. End one first.`,
        'name',
      );
    requireNewName(checked.name, current);
    return this.tokens.issue(ApiKey, PREFIXES[client.environment], {
      ...checked,
      clientId: client.clientId,
      creatorId: creator.userId ?? null,
      createdBy: creator.email,
      createdAt: now,
      expiresAt: expiresInDays === undefined ? null : new Date(now.getTime() + expiresInDays * DAY),
      lastUsedIp: null,
      rotatedAt: null,
      trust: trust ?? null,
    });
  }

  /**
   * Issues a successor with the same properties and the same lifetime. The old key is accepted until the overlap ends.
   *
   * @throws OperatorError if the key is unknown or has ended, or has been rotated already, or too many replaced keys are accepted
   */
  @Transactional()
  async rotate(id: string, overlapHours = DEFAULT_OVERLAP_HOURS): Promise<IssuedKey> {
    requireOverlap(overlapHours);
    const key = await this.tokens.lock(ApiKey, WHAT, id);
    const now = this.clock.now();
    if (key.trust)
      throw new KeyProblem('The program sends tokens of another issuer, not the key.', 'overlap_hours');
    if (key.rotatedAt)
      throw new KeyProblem('The API key has been rotated already: rotate its successor.', 'overlap_hours');
    if (!isActive(key, now)) throw new KeyProblem('The API key has ended.', 'overlap_hours');
    const { environment } = await this.requireClient(key.clientId);
    // After a leak, nobody must have to wait for the end of an overlap.
    if (overlapHours > 0) await this.requireFewReplaced(key.clientId);
    const end = this.tokens.endOfOverlap(key, overlapHours);
    await this.transaction.manager.update(ApiKey, { id }, { rotatedAt: now, expiresAt: end });
    const { name, scopes, clientId, ipRanges, creatorId, createdBy, createdAt, expiresAt } = key;
    const lifetime = expiresAt && expiresAt.getTime() - createdAt.getTime();
    return this.tokens.issue(ApiKey, PREFIXES[environment], {
      name,
      scopes,
      clientId,
      ipRanges,
      creatorId,
      createdBy,
      createdAt: now,
      expiresAt: lifetime === null ? null : new Date(now.getTime() + lifetime),
      lastUsedIp: null,
      rotatedAt: null,
      trust: null,
    });
  }

  /**
   * Ends a key. Idempotent.
   *
   * @returns the key as it was before
   * @throws OperatorError if the key is unknown
   */
  @Transactional()
  async revoke(id: string): Promise<ApiKey> {
    const key = await this.tokens.lock(ApiKey, WHAT, id);
    await this.tokens.revoke(ApiKey, id);
    return key;
  }

  /** Returns the client of a key. @throws OperatorError if the client is unknown */
  async requireClient(clientId: string): Promise<ClientRecord> {
    const client = await this.clients.find(clientId);
    if (!client) throw new OperatorError(`There is no API client ${clientId}.`);
    return client;
  }

  /** @returns undefined if the organization has no client in this environment */
  async clientOf({ actor, environment }: DashboardScope): Promise<ClientRecord | undefined> {
    return this.clients.ofOrganization(actor.organizationId, environment);
  }

  /**
   * Returns a key, also if it has ended.
   *
   * @throws ApiError API_KEY_NOT_FOUND also if it belongs to another organization or environment
   */
  async requireIn(scope: DashboardScope, id: string): Promise<ApiKey> {
    const client = await this.clientOf(scope);
    return API_KEY_NOT_FOUND.requireFound(
      client && (await this.transaction.findById(ApiKey, { id, clientId: client.clientId })),
    );
  }

  @Transactional()
  async createForUser(scope: DashboardScope, request: NewKey): Promise<IssuedKey> {
    const client = await this.clientOf(scope);
    if (!client) throw API_KEY_NOT_FOUND.error();
    const issued = await forUser(this.create(client.clientId, request, scope.actor));
    await this.record('key.create', scope, issued.stored, keyChanges({}, issued.stored));
    return issued;
  }

  /** @param properties.trust replaces the trust of a key that has one */
  @Transactional()
  async update(
    scope: DashboardScope,
    id: string,
    { trust, ...properties }: KeyProperties,
    check: Check<ApiKey>,
  ): Promise<void> {
    const { clientId } = await this.requireIn(scope, id);
    await this.lockKeysOf(clientId);
    const key = await this.locked(id, check);
    if (key.revokedAt) throw INVALID_FIELD.error('The API key has ended.');
    if (trust && !key.trust) throw INVALID_FIELD.error('The API key trusts no other issuer.');
    const checked = await forUser(Promise.resolve().then(() => checkedProperties(properties)));
    const changed = { ...checked, ...(trust && { trust }) };
    const where = { clientId, id: Not(id), rotatedAt: IsNull(), revokedAt: IsNull() };
    if (key.rotatedAt === null)
      await forUser(
        this.transaction.manager.findBy(ApiKey, where).then((others) => requireNewName(changed.name, others)),
      );
    const changes = keyChanges(key, changed);
    if (changes.length === 0) return;
    await this.transaction.manager.update(ApiKey, { id }, changed);
    await this.record('key.update', scope, { ...key, ...changed }, changes);
  }

  @Transactional()
  async rotateForUser(
    scope: DashboardScope,
    id: string,
    overlapHours: number,
    check: Check<ApiKey>,
  ): Promise<IssuedKey> {
    await this.requireIn(scope, id);
    await this.locked(id, check);
    const issued = await forUser(this.rotate(id, overlapHours));
    await this.record('key.rotate', scope, issued.stored);
    return issued;
  }

  /** Idempotent. */
  @Transactional()
  async end(scope: DashboardScope, id: string, check: Check<ApiKey>): Promise<void> {
    await this.requireIn(scope, id);
    const key = await this.locked(id, check);
    if (await this.tokens.revoke(ApiKey, id)) await this.record('key.end', scope, key);
  }

  /** Keys that are rotated at the same time can exceed the maximum by their number. */
  private async requireFewReplaced(clientId: string): Promise<void> {
    const replaced = (await this.list(clientId)).filter(({ rotatedAt }) => rotatedAt !== null);
    if (replaced.length >= MAX_REPLACED_KEYS)
      throw new KeyProblem(
        `${MAX_REPLACED_KEYS} replaced keys of the API client are still accepted, which is the maximum. End one first.`,
        'overlap_hours',
      );
  }

  private async locked(id: string, check: Check<ApiKey>): Promise<ApiKey> {
    const key = await this.tokens.lock(ApiKey, WHAT, id);
    check(key);
    return key;
  }

  /** Locks the keys of a client, so that their number and names do not change between the check and the change. */
  private lockKeysOf(clientId: string): Promise<void> {
    return this.transaction.lock(`api-keys.${clientId}`);
  }

  private async record(
    action: AuditAction,
    { actor, environment }: DashboardScope,
    { name }: ApiKey,
    changes: AuditRecord['changes'] = [],
  ): Promise<void> {
    await this.auditLog.record({ action, actor, target: { name, environment }, changes });
  }
}

/** Returns what the audit log records of a key. */
export function keyChanges(
  before: Partial<ApiKey>,
  after: Partial<ApiKey>,
): NonNullable<AuditRecord['changes']> {
  const recorded = ({ name, scopes, ipRanges, expiresAt, trust }: Partial<ApiKey>) => ({
    name,
    scopes,
    ip_ranges: ipRanges?.length === 0 ? null : ipRanges,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(trust && {
      issuer: trust.issuer,
      subject: trust.subject,
      audience: trust.audience,
      claims: Object.keys(trust.claims).length === 0 ? null : linesOf(trust),
    }),
  });
  return changesBetween<object>(recorded(before), recorded(after));
}

function checkedProperties({ name, scopes, ipRanges = [] }: KeyProperties) {
  const problem = problemWithName(name);
  if (problem !== undefined) throw new KeyProblem(problem, 'name');
  if (scopes.length === 0 || !scopes.every(isScope))
    throw new KeyProblem(`Each scope must be one of ${SCOPES.join(', ')}.`, 'scopes');
  const ranges = ipRanges.map((range) => {
    const normal = normalRange(range);
    if (normal === undefined) throw new KeyProblem(notARange(range), 'ip_ranges');
    return normal;
  });
  if (ranges.length > MAX_IP_RANGES)
    throw new KeyProblem(`A key can have at most ${MAX_IP_RANGES} IP ranges.`, 'ip_ranges');
  const unique = new Set(scopes.filter(isScope));
  return { name, scopes: SCOPES.filter((scope) => unique.has(scope)), ipRanges: [...new Set(ranges)] };
}

function requireNewName(name: string, others: readonly ApiKey[]): void {
  if (others.some((key) => key.name === name))
    throw new KeyProblem('The API client has another key with this name.', 'name');
}

/** Reports problems of operators as errors about fields of the form. */
async function forUser<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw error instanceof KeyProblem ? INVALID_FIELD.error(error.message, { field: error.field }) : error;
  });
}
