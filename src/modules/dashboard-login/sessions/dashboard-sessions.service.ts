import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan, Not } from 'typeorm';
import {
  DashboardSessionVerifier,
  loginEnded,
  type DashboardActor,
  type DashboardIdentity,
  type DashboardPrincipal,
} from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import {
  DashboardUsersRepository,
  DashboardUsersService,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { AccountLog } from '../account-emails.js';
import { DashboardSession, type SessionStage } from './dashboard-session.entity.js';
import { SessionConfiguration } from './session.configuration.js';

/** A new session. Only the browser gets the token. */
export interface OpenedSession {
  readonly token: string;
  readonly expiresAt: Date;
}

/** How a user logged in. */
export interface SessionProof {
  readonly usedPassword?: boolean;
  readonly passkeyId?: string | null;
  /** When the user logged in at an identity provider. */
  readonly authenticatedAt?: Date;
  /** Whether that login counts as two factors. */
  readonly isTwoFactor?: boolean;
  /** Whether an owner approved that provider. */
  readonly isOwnerApproved?: boolean;
  /** When the session ends at the latest: with another one that it continues, or at the identity provider. */
  readonly endsBy?: Date | null | undefined;
}

/** No user has it. */
const NO_VERSION = -1;

/** The share of the allowed pause after which a request is recorded, because not every request should write. */
const RECORDED_SHARE = 0.1;

const LIFETIMES: Readonly<Record<SessionStage, number>> = { second_factor: 10 * MINUTE, complete: 12 * HOUR };

/** Logins in browsers. Every request looks up its session, so that ending a session takes effect immediately. */
@Injectable()
export class DashboardSessionsService extends DashboardSessionVerifier {
  constructor(
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersService,
    private readonly usersRepository: DashboardUsersRepository,
    private readonly log: AccountLog,
    private readonly clock: Clock,
    private readonly configuration: SessionConfiguration,
  ) {
    super();
  }

  /** Every login gets a new token, which prevents session fixation. */
  async open(
    userId: string,
    stage: SessionStage,
    origin: RequestOrigin,
    {
      usedPassword = false,
      passkeyId = null,
      authenticatedAt = this.clock.now(),
      isTwoFactor = false,
      isOwnerApproved = true,
      endsBy = null,
    }: SessionProof = {},
  ): Promise<OpenedSession> {
    const token = randomBytes(32).toString('base64url');
    const now = this.clock.milliseconds();
    const latest = Math.min(now + LIFETIMES.complete, endsBy?.getTime() ?? Infinity);
    const expiresAt = new Date(Math.min(now + LIFETIMES[stage], latest));
    await this.transaction.manager.insert(DashboardSession, {
      id: randomUUID(),
      tokenHash: sha256(token),
      userId,
      stage,
      usedPassword,
      passkeyId,
      isTwoFactor,
      isOwnerApproved,
      authenticatedAt,
      expiresAt,
      usedAt: this.clock.now(),
      endsBy: endsBy && new Date(latest),
      ...origin,
    });
    return { token, expiresAt };
  }

  override async verify(token: string): Promise<DashboardIdentity | undefined> {
    const session = await this.find(token, 'complete');
    const principal = session && (await this.users.principal(session.userId));
    if (!principal) return undefined;
    await this.recordUse(session);
    const { id: sessionId, authenticatedAt, passkeyId, isTwoFactor, isOwnerApproved } = session;
    return {
      ...principal,
      // A device that it approves would have all rights of the user, so it cannot approve any.
      ...(!isOwnerApproved && principal.role === 'owner' && { role: 'admin', accessVersion: NO_VERSION }),
      // The device, and the fingerprint, face or PIN that unlocks it, are two factors.
      ...((passkeyId !== null || isTwoFactor) && { lacksSecondFactor: false, secondFactorDue: null }),
      credential: { kind: 'session', sessionId, authenticatedAt },
    };
  }

  /** Returns when the session with this token ends; undefined if there is none, or it is another user's. */
  async expiryOf(userId: string, token = ''): Promise<Date | undefined> {
    const session = await this.find(token, 'complete');
    return session?.userId === userId ? session.expiresAt : undefined;
  }

  /** Returns the user whose password was correct and whose second factor is still missing. */
  async awaitingSecondFactor(token: string | undefined): Promise<DashboardPrincipal | undefined> {
    if (token === undefined) return undefined;
    const session = await this.find(token, 'second_factor');
    return session ? this.users.principal(session.userId) : undefined;
  }

  /**
   * Ends the session that the first step of a login opened.
   *
   * @returns how the user passed that step, to only one of several concurrent calls
   */
  async endFirstStep(token: string): Promise<SessionProof | undefined> {
    const session = await this.find(token, 'second_factor');
    if (!session || !(await this.end(token))) return undefined;
    const { usedPassword, authenticatedAt, isOwnerApproved, endsBy } = session;
    return { usedPassword, authenticatedAt, isOwnerApproved, endsBy };
  }

  /**
   * Locks the user before a change to how they log in, until the transaction ends. A new password ends the other sessions, and so it
   * ends what a thief had begun in one of them.
   *
   * @throws ApiError INVALID_ACCESS_TOKEN if the session has ended since the request arrived
   */
  async lockUserOf({
    userId,
    credential,
  }: DashboardActor): Promise<{ readonly user: DashboardUser; readonly session: DashboardSession }> {
    const user = await this.usersRepository.lock(userId);
    const where = { userId, id: credential.kind === 'session' ? credential.sessionId : userId };
    const session = await this.transaction.manager.findOneBy(DashboardSession, where);
    if (!user || !session) throw loginEnded();
    return { user, session };
  }

  /** @returns whether the session existed; true for only one of several concurrent calls */
  async end(token: string): Promise<boolean> {
    return this.transaction.deleteRow(DashboardSession, { tokenHash: sha256(token) });
  }

  @Transactional()
  async logOut(actor: DashboardActor, token: string): Promise<void> {
    if (await this.end(token)) await this.log.record('auth.logout', actor);
  }

  async list(userId: string): Promise<DashboardSession[]> {
    const sessions = await this.transaction.manager.find(DashboardSession, {
      where: { userId, stage: 'complete', expiresAt: MoreThan(this.clock.now()) },
      order: { authenticatedAt: 'DESC', id: 'ASC' },
    });
    return sessions.filter((session) => !this.isIdle(session));
  }

  @Transactional()
  async endOne(actor: DashboardActor, sessionId: string): Promise<void> {
    if (await this.transaction.deleteRow(DashboardSession, { userId: actor.userId, id: sessionId }))
      await this.log.record('auth.session_end', actor);
  }

  /** @param exceptId the session that stays, if any */
  async endAll(userId: string, exceptId?: string): Promise<void> {
    const ended = exceptId === undefined ? { userId } : { userId, id: Not(exceptId) };
    await this.transaction.manager.delete(DashboardSession, ended);
  }

  /** Stops counting logins at the identity provider of the organization as two factors. Joins the open transaction. */
  async endProviderFactors(organizationId: string): Promise<void> {
    // After logins that still read the old setting.
    await this.usersRepository.lockUsersOf(organizationId);
    const counted = { userId: this.usersRepository.isOneOf(organizationId), isTwoFactor: true };
    await this.transaction.manager.update(DashboardSession, counted, { isTwoFactor: false });
  }

  /** Ends sessions, access tokens and device approvals. @param exceptId the session that stays, if any */
  async endAllAccess(userId: string, exceptId?: string): Promise<void> {
    await this.usersRepository.endAccess(userId);
    await this.endAll(userId, exceptId);
  }

  @Transactional()
  async endAllOtherAccess(actor: DashboardActor, sessionId: string): Promise<void> {
    await this.endAllAccess(actor.userId, sessionId);
    await this.log.record('auth.session_end', actor);
  }

  private async find(token: string, stage: SessionStage): Promise<DashboardSession | null> {
    const session = await this.transaction.manager.findOneBy(DashboardSession, {
      tokenHash: sha256(token),
      stage,
      expiresAt: MoreThan(this.clock.now()),
    });
    return session && !this.isIdle(session) ? session : null;
  }

  /** @param share of the allowed pause */
  private isIdle({ usedAt, authenticatedAt }: DashboardSession, share = 1): boolean {
    const pause = this.clock.milliseconds() - (usedAt ?? authenticatedAt).getTime();
    return pause > share * this.configuration.idleTime;
  }

  private async recordUse(session: DashboardSession): Promise<void> {
    if (!this.isIdle(session, RECORDED_SHARE)) return;
    await this.transaction.manager.update(DashboardSession, { id: session.id }, { usedAt: this.clock.now() });
  }
}
