import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional, TransactionalApart } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AUDIT_ACTIONS, type AuditAction, type AuditOutcome } from './audit-actions.js';
import { nextSequence, hashEntry, type UnhashedEntry } from './audit-chain.js';
import { AuditLogRepository } from './audit-log.repository.js';

/** Who acts. Every caller of the dashboard API is one; a login that is tried has the data of its user. */
export type AuditActor = Pick<DashboardActor, 'organizationId' | 'name' | 'email' | 'origin'>;

export interface AuditRecord {
  readonly action: AuditAction;
  readonly by: AuditActor;
  readonly target?: {
    /** As people know the thing: an e-mail address, a URL, a name. */
    readonly name?: string | null;
    /** Production when it is left out: what belongs to the whole organization counts as that. */
    readonly environment?: PlatformEnvironment;
  };
  /** A success when it is left out. */
  readonly outcome?: AuditOutcome;
}

/**
 * Keeps who did what. Every organization has a chain of entries of its own; whoever appends locks the head
 * of that chain until their transaction ends, so record last, and do nothing slow behind it.
 */
@Injectable()
export class AuditLog {
  constructor(
    private readonly repository: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Joins the caller's transaction: the action and its entry are committed together or not at all. Opens one
   * where there is none.
   */
  @Transactional()
  async record(deed: AuditRecord): Promise<void> {
    await this.append(deed);
  }

  /**
   * The same in a transaction of its own, for attempts that were refused or failed: the entry stays when the
   * caller's transaction is rolled back.
   *
   * It takes a second connection while the caller's transaction holds the first: do it outside of a
   * transaction where that is possible. And it waits for the head of the chain: a transaction that has
   * recorded something of the same organization already must not call it, or it waits for itself until the
   * statement's time is over.
   */
  @TransactionalApart()
  async recordApart(deed: AuditRecord): Promise<void> {
    await this.append(deed);
  }

  private async append({ action, by, target, outcome }: AuditRecord): Promise<void> {
    const head = await this.repository.lockHead(by.organizationId, this.clock.now());
    const entry: UnhashedEntry = {
      organizationId: by.organizationId,
      sequence: nextSequence(head),
      id: randomUUID(),
      createdAt: this.timeAfter(head.createdAt),
      action,
      outcome: outcome ?? 'success',
      actorName: by.name,
      actorEmail: by.email,
      targetType: AUDIT_ACTIONS[action].target,
      targetName: target?.name ?? null,
      targetEnvironment: target?.environment ?? 'production',
      contextIp: by.origin.ip,
      contextUserAgent: by.origin.userAgent,
    };
    await this.repository.append({ ...entry, hash: hashEntry(entry, head) });
  }

  /** Clocks of several processes differ, and are set back; the order of time is to be that of the chain. */
  private timeAfter(previous: Date): Date {
    return new Date(Math.max(this.clock.milliseconds(), previous.getTime()));
  }
}
