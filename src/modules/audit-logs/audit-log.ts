import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { auditAction, type AuditAction } from '../../infrastructure/audit-catalog/index.js';
import {
  ACCESS_TOKEN,
  AuditRecorder,
  DASHBOARD_ROLES,
  INSUFFICIENT_ROLE,
  invalidCredentials,
  invalidToken,
  loginEnded,
  type AuthenticatedClient,
  type DashboardActor,
  type DashboardRole,
  type DeniedTarget,
  type Scope,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import type { RequestOrigin } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { firstCharacters, hasAtMostCharacters } from '../../infrastructure/validation/index.js';
import type { AuditOutcome } from './audit-outcome.js';
import { hashEntry, nextSequence, type UnhashedEntry } from './audit-chain.js';
import type { AuditChangeResponse } from './audit-log-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';

/** The user or operator who acts. For a login attempt, the user who is trying to log in. */
export type AuditActor = Pick<DashboardActor, 'organizationId' | 'name' | 'email' | 'origin'> &
  Partial<Pick<DashboardActor, 'userId' | 'role' | 'accessVersion' | 'credential'>>;

/** Port (bound in `src/ports.module.ts`) that knows the roles of dashboard users at this moment. */
export abstract class CurrentRoles {
  /** Returns the role that decides about the rights of the user; undefined if the user was removed or disabled. */
  abstract currentRole(userId: string, now: Date): Promise<DashboardRole | undefined>;
}

/** Port (bound in `src/ports.module.ts`) that knows which logins have ended. */
export abstract class CurrentLogins {
  /** Returns whether the login session has not been ended, by the user or by somebody else. */
  abstract hasSession(sessionId: string): Promise<boolean>;
}

/** Port (bound in `src/ports.module.ts`) that knows which access tokens of users have ended. */
export abstract class CurrentTokens {
  /** Returns whether the token was not revoked, and the tokens of this access version of the user have not ended. */
  abstract isActive(tokenId: string, userId: string, accessVersion?: number): Promise<boolean>;
}

/** Port (bound in `src/ports.module.ts`) that knows which API keys are accepted. */
export abstract class CurrentKeys {
  /** Returns whether the key has not ended, and has these scopes. */
  abstract isActive(keyId: string, scopes: ReadonlySet<Scope>): Promise<boolean>;
}

/** Actor of entries about what the service does by itself. Like that of operators, it names no person. */
export const SYSTEM = { name: 'system', email: 'system', origin: { ip: '', userAgent: 'background job' } };

/** Actor of entries about requests that a client sent with its secret, which belongs to no person. */
export const API_CLIENT = { name: 'API client', email: 'API client' };

/** In place of the email address of an API key. */
export const API_KEY_EMAIL = 'API key';

/** Returns the actor of entries about requests of a client: its API key, or without one, the client. */
export function actorOf(client: AuthenticatedClient, origin: RequestOrigin): AuditActor {
  const { organizationId, key } = client;
  if (!key) return { ...API_CLIENT, organizationId, origin };
  const credential = { ...client, key, kind: 'key', scopes: key.scopes } as const;
  return { name: key.name, email: API_KEY_EMAIL, organizationId, origin, credential };
}

export interface AuditRecord {
  readonly action: AuditAction;
  readonly actor: AuditActor;
  readonly target?: {
    /** The name that users know: an email address, a URL, a name. */
    readonly name?: string | null;
    /** Defaults to production, which is also used for organization-wide targets. */
    readonly environment?: PlatformEnvironment;
  };
  /** Defaults to success. */
  readonly outcome?: AuditOutcome;
  /** The changes that the action made, from `changesBetween`. */
  readonly changes?: readonly AuditChangeResponse[];
}

/**
 * Writes the audit log. Each organization has its own chain of entries. Appending locks the head of the chain until
 * the transaction ends, so call `record` last in the transaction.
 */
@Injectable()
export class AuditLog extends AuditRecorder {
  private readonly queue = new KeyedQueue(1);

  constructor(
    private readonly repository: AuditLogRepository,
    private readonly roles: CurrentRoles,
    private readonly logins: CurrentLogins,
    private readonly tokens: CurrentTokens,
    private readonly keys: CurrentKeys,
    private readonly clock: Clock,
  ) {
    super();
  }

  /**
   * Runs work that records an entry of the organization after the earlier such work: entries of an organization wait for each other
   * anyway, and waiting in the database would occupy connections. The work must neither be part of a transaction nor contain other
   * work in turn, which would wait forever.
   */
  inTurn<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result> {
    return this.queue.run(organizationId, work);
  }

  /**
   * Records an action. Joins the open transaction, or opens a new one, so the action and its entry are committed
   * together. Record a denied or failed attempt after its transaction was rolled back. Otherwise the entry is rolled
   * back, too.
   *
   * @throws ApiError INSUFFICIENT_ROLE, INVALID_ACCESS_TOKEN, INVALID_API_KEYS if the actor has lost the role, or the login or token has ended, with
   *   which the request was admitted
   */
  @Transactional()
  async record({ action, actor, target, outcome, changes = [] }: AuditRecord): Promise<void> {
    const head = await this.repository.lockHead(actor.organizationId, this.clock.now());
    // Under the lock, which a change of the role takes, too: either that change sees this one, or the other way round.
    if (!outcome || outcome === 'success') await this.requireRights(actor);
    const entry: UnhashedEntry = {
      organizationId: actor.organizationId,
      sequence: nextSequence(head),
      id: randomUUID(),
      datetime: this.timeAfter(head.createdAt),
      event: { action, outcome: { status: outcome ?? 'success' } },
      actor: { name: actor.name, email: actor.email },
      target: {
        type: auditAction(action).target.type,
        name: target?.name ?? null,
        environment: target?.environment ?? 'production',
      },
      context: { ip: actor.origin.ip, user_agent: actor.origin.userAgent },
      changes: changes.length === 0 ? null : [...changes],
    };
    await this.repository.append({ ...entry, hash: hashEntry(entry, head) });
  }

  async recordDenial(actor: DashboardActor, action: AuditAction, target: DeniedTarget): Promise<void> {
    const shown = auditAction(action).target.isOfEnvironment ? target : { name: target.name };
    await this.recordInTurn({ action, actor, target: shown, outcome: 'denied' });
  }

  async recordExport(
    actor: DashboardActor,
    action: AuditAction,
    environment: PlatformEnvironment | undefined,
  ): Promise<void> {
    await this.recordInTurn({ action, actor, ...(environment && { target: { environment } }) });
  }

  /**
   * Checks that a user still has the role and the login session or access token, or an API key its scopes, with which the request was
   * admitted.
   * `record` does so, too; call it for work that is recorded in another transaction.
   *
   * @throws ApiError INSUFFICIENT_ROLE, INVALID_ACCESS_TOKEN, INVALID_API_KEYS
   */
  async requireRights({
    userId,
    role,
    accessVersion,
    credential,
  }: Pick<AuditActor, 'userId' | 'role' | 'accessVersion' | 'credential'>): Promise<void> {
    if (credential?.kind === 'session' && !(await this.logins.hasSession(credential.sessionId)))
      throw loginEnded();
    if (credential?.kind === 'key') {
      // Without a role, the key was admitted as an API client.
      if (!(await this.keys.isActive(credential.key.id, credential.scopes)))
        throw role === undefined ? invalidCredentials() : invalidToken(ACCESS_TOKEN);
      return;
    }
    if (userId === undefined || role === undefined) return;
    if (
      credential?.kind === 'token' &&
      !(await this.tokens.isActive(credential.tokenId, userId, accessVersion))
    )
      throw invalidToken(ACCESS_TOKEN);
    const current = await this.roles.currentRole(userId, this.clock.now());
    if (!current || DASHBOARD_ROLES.indexOf(current) > DASHBOARD_ROLES.indexOf(role))
      throw INSUFFICIENT_ROLE.error();
  }

  /** Guards and pages record without a transaction or a place in the queue of the organization's changes. */
  private recordInTurn(entry: AuditRecord): Promise<void> {
    return this.inTurn(entry.actor.organizationId, () => this.record(entry));
  }

  /**
   * Returns the current time, but never a time before the previous entry, because clocks differ between processes and
   * can be set back.
   */
  private timeAfter(previous: Date): Date {
    return new Date(Math.max(this.clock.milliseconds(), previous.getTime()));
  }
}

/**
 * The chain of changes that belong to no organization, in the place of an organization's ID. Customers cannot read it; the
 * commands `audit verify`, `audit head` and `audit export` can.
 */
export const PLATFORM = '00000000-0000-0000-0000-000000000000';

/** A change that an operator made to an organization, or to the platform. */
export interface OperatorChange {
  readonly organizationId: string;
  readonly action: AuditAction;
  readonly target: NonNullable<AuditRecord['target']>;
  readonly changes?: AuditRecord['changes'];
}

/** Operators work on the server. They are not dashboard users, so their entries contain no personal name, email or IP address. */
export const OPERATOR = {
  name: 'operator',
  email: 'operator',
  origin: { ip: '', userAgent: 'command line' },
};

/** Records what operators do with commands. */
@Injectable()
export class OperatorAudit {
  constructor(private readonly auditLog: AuditLog) {}

  /** Runs the work and records its changes in the same transaction. */
  @Transactional()
  async run<T>(work: () => Promise<T>, changesOf: (result: T) => readonly OperatorChange[]): Promise<T> {
    const result = await work();
    for (const change of changesOf(result)) await this.record(change);
    return result;
  }

  async record({ organizationId, ...change }: OperatorChange): Promise<void> {
    await this.auditLog.record({ ...change, actor: { organizationId, ...OPERATOR } });
  }
}

/** Characters of a value. */
const MAX_VALUE_LENGTH = 256;

/**
 * Returns which values differ, in the order in which they are given. The names are those of the fields that users know; the values
 * must not be secret. A list that is too long for a value is in several changes: no item may be missing, such as a right.
 */
export function changesBetween<Values extends object>(
  before: Partial<Values>,
  after: Partial<Values>,
): AuditChangeResponse[] {
  return Object.entries(after).flatMap(([field, value]) => {
    const from = partsOf(before[field as keyof Values]);
    const to = partsOf(value);
    if (isDeepStrictEqual(from, to)) return [];
    const { length } = from.length > to.length ? from : to;
    return Array.from({ length }, (_, index) => ({
      field,
      from: shortened(from[index] ?? null),
      to: shortened(to[index] ?? null),
    }));
  });
}

/** Returns a value as text; a list in as many parts as it needs. */
function partsOf(value: unknown): (string | null)[] {
  if (value === null || value === undefined) return [null];
  if (!Array.isArray(value)) return [value instanceof Date ? value.toISOString() : String(value)];
  const parts: string[] = [];
  for (const item of value.map(String)) {
    const longer = `${parts.at(-1)}, ${item}`;
    if (parts.length > 0 && hasAtMostCharacters(longer, MAX_VALUE_LENGTH)) parts[parts.length - 1] = longer;
    else parts.push(item);
  }
  return parts.length === 0 ? [''] : parts;
}

function shortened(text: string | null): string | null {
  if (text === null) return null;
  return hasAtMostCharacters(text, MAX_VALUE_LENGTH)
    ? text
    : `${firstCharacters(text, MAX_VALUE_LENGTH - 1)}…`;
}
