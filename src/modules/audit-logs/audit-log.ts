import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AuditRecorder,
  type AuditedAction,
  type DashboardActor,
  type DeniedTarget,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { KeyedQueue, Transactional } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { firstCharacters, hasAtMostCharacters } from '../../infrastructure/validation/index.js';
import {
  AUDIT_ACTIONS,
  isTargetOfEnvironment,
  type AuditAction,
  type AuditOutcome,
} from './audit-actions.js';
import { hashEntry, nextSequence, type UnhashedEntry } from './audit-chain.js';
import type { AuditChangeResponse } from './audit-log-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';

/** The user or operator who acts. For a login attempt, the user who is trying to log in. */
export type AuditActor = Pick<DashboardActor, 'organizationId' | 'name' | 'email' | 'origin'>;

/** Actor of entries about what the service does by itself. Like that of operators, it names no person. */
export const SYSTEM = { name: 'system', email: 'system', origin: { ip: '', userAgent: 'background job' } };

/** Actor of entries about what a client requested with its credentials, which belong to no person. */
export const API_CLIENT = { name: 'API client', email: 'API client' };

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
  /** What the action changed, from `changesBetween`. */
  readonly changes?: readonly AuditChangeResponse[];
}

/**
 * Writes the audit log. Each organization has its own chain of entries. Appending locks the head of the chain until
 * the transaction ends, so call `record` last in the transaction.
 */
@Injectable()
export class AuditLog extends AuditRecorder {
  /** Entries of one organization wait for each other anyway; waiting in the database would occupy connections. */
  private readonly queue = new KeyedQueue(1);

  constructor(
    private readonly repository: AuditLogRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  /**
   * Records an action. Joins the open transaction, or opens a new one, so the action and its entry are committed
   * together. Record a denied or failed attempt after its transaction was rolled back. Otherwise the entry is rolled
   * back, too.
   */
  @Transactional()
  async record({ action, actor, target, outcome, changes = [] }: AuditRecord): Promise<void> {
    const head = await this.repository.lockHead(actor.organizationId, this.clock.now());
    const entry: UnhashedEntry = {
      organizationId: actor.organizationId,
      sequence: nextSequence(head),
      id: randomUUID(),
      datetime: this.timeAfter(head.createdAt),
      event: { action, outcome: { status: outcome ?? 'success' } },
      actor: { name: actor.name, email: actor.email },
      target: {
        type: AUDIT_ACTIONS[action].target,
        name: target?.name ?? null,
        environment: target?.environment ?? 'production',
      },
      context: { ip: actor.origin.ip, user_agent: actor.origin.userAgent },
      changes: changes.length === 0 ? null : [...changes],
    };
    await this.repository.append({ ...entry, hash: hashEntry(entry, head) });
  }

  async recordDenial(actor: DashboardActor, action: AuditedAction, target: DeniedTarget): Promise<void> {
    const shown = isTargetOfEnvironment(AUDIT_ACTIONS[action].target) ? target : { name: target.name };
    await this.recordInTurn({ action, actor, target: shown, outcome: 'denied' });
  }

  async recordExport(
    actor: DashboardActor,
    action: AuditedAction,
    environment: PlatformEnvironment | undefined,
  ): Promise<void> {
    await this.recordInTurn({ action, actor, ...(environment && { target: { environment } }) });
  }

  /** Guards and pages record without a transaction or a place in the queue of the organization's changes. */
  private recordInTurn(entry: AuditRecord): Promise<void> {
    return this.queue.run(entry.actor.organizationId, () => this.record(entry));
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
 * must not be secret.
 */
export function changesBetween<Values extends object>(
  before: Partial<Values>,
  after: Partial<Values>,
): AuditChangeResponse[] {
  return Object.entries(after).flatMap(([field, value]) => {
    const [from, to] = [textOf(before[field as keyof Values]), textOf(value)];
    return from === to ? [] : [{ field, from: shortened(from), to: shortened(to) }];
  });
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Date
    ? value.toISOString()
    : Array.isArray(value)
      ? value.join(', ')
      : String(value);
}

function shortened(text: string | null): string | null {
  if (text === null) return null;
  return hasAtMostCharacters(text, MAX_VALUE_LENGTH)
    ? text
    : `${firstCharacters(text, MAX_VALUE_LENGTH - 1)}…`;
}
