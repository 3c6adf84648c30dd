import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan, Not } from 'typeorm';
import {
  DashboardSessionVerifier,
  type DashboardActor,
  type DashboardIdentity,
  type DashboardPrincipal,
} from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { DashboardUsersRepository, DashboardUsersService } from '../../dashboard-users/index.js';
import { AccountLog } from '../account-emails.js';
import { DashboardSession, type SessionStage } from './dashboard-session.entity.js';

/** A new session. Only the browser gets the token. */
export interface OpenedSession {
  readonly token: string;
  readonly expiresAt: Date;
}

/** How a user logged in, other than with the password just now. */
export interface SessionProof {
  readonly passkeyId?: string | null;
  /** When the user logged in at an identity provider. */
  readonly authenticatedAt?: Date;
  /** Whether that login counts as two factors. */
  readonly isTwoFactor?: boolean;
  /** When the session ends, if it continues another one. */
  readonly expiresAt?: Date;
}

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
  ) {
    super();
  }

  /** Every login gets a new token, which prevents session fixation. */
  async open(
    userId: string,
    stage: SessionStage,
    origin: RequestOrigin,
    {
      passkeyId = null,
      authenticatedAt = this.clock.now(),
      isTwoFactor = false,
      ...proof
    }: SessionProof = {},
  ): Promise<OpenedSession> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = proof.expiresAt ?? new Date(this.clock.milliseconds() + LIFETIMES[stage]);
    await this.transaction.manager.insert(DashboardSession, {
      id: randomUUID(),
      tokenHash: sha256(token),
      userId,
      stage,
      passkeyId,
      isTwoFactor,
      authenticatedAt,
      expiresAt,
      ...origin,
    });
    return { token, expiresAt };
  }

  override async verify(token: string): Promise<DashboardIdentity | undefined> {
    const session = await this.find(token, 'complete');
    const principal = session && (await this.users.principal(session.userId));
    if (!principal) return undefined;
    const { id: sessionId, authenticatedAt, passkeyId, isTwoFactor } = session;
    return {
      ...principal,
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
   * @returns when the user passed that step, to only one of several concurrent calls
   */
  async endFirstStep(token: string): Promise<Date | undefined> {
    const session = await this.find(token, 'second_factor');
    return session && (await this.end(token)) ? session.authenticatedAt : undefined;
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
    return this.transaction.manager.find(DashboardSession, {
      where: { userId, stage: 'complete', expiresAt: MoreThan(this.clock.now()) },
      order: { authenticatedAt: 'DESC', id: 'ASC' },
    });
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

  @Transactional()
  async endAllOtherAccess(actor: DashboardActor, sessionId: string): Promise<void> {
    await this.usersRepository.endAccess(actor.userId);
    await this.endAll(actor.userId, sessionId);
    await this.log.record('auth.session_end', actor);
  }

  private find(token: string, stage: SessionStage): Promise<DashboardSession | null> {
    return this.transaction.manager.findOneBy(DashboardSession, {
      tokenHash: sha256(token),
      stage,
      expiresAt: MoreThan(this.clock.now()),
    });
  }
}
