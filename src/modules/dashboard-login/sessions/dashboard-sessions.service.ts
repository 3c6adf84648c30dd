import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  DashboardSessionVerifier,
  type DashboardIdentity,
  type DashboardPrincipal,
} from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import type { DashboardSession, SessionStage } from './dashboard-session.entity.js';
import { DashboardSessionsRepository } from './dashboard-sessions.repository.js';

/** A login as the browser gets it; the token is shown to nobody else. */
export interface OpenedSession {
  readonly token: string;
  readonly expiresAt: Date;
}

const LIFETIMES: Readonly<Record<SessionStage, number>> = {
  second_factor: 10 * MINUTE,
  complete: 12 * HOUR,
};

/** Logins in browsers. Each is asked for anew with every request, so what ends one ends it at once. */
@Injectable()
export class DashboardSessionsService extends DashboardSessionVerifier {
  constructor(
    private readonly repository: DashboardSessionsRepository,
    private readonly users: DashboardUsersService,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Every login gets a token of its own, also one that takes the place of another (session fixation). */
  async open(userId: string, stage: SessionStage, origin: RequestOrigin): Promise<OpenedSession> {
    const token = randomBytes(32).toString('base64url');
    const authenticatedAt = this.clock.now();
    const expiresAt = new Date(authenticatedAt.getTime() + LIFETIMES[stage]);
    await this.repository.add({
      id: randomUUID(),
      tokenHash: sha256(token),
      userId,
      stage,
      authenticatedAt,
      expiresAt,
      ip: origin.ip,
      userAgent: origin.userAgent,
    });
    return { token, expiresAt };
  }

  override async verify(token: string): Promise<DashboardIdentity | undefined> {
    const session = await this.repository.find(sha256(token), 'complete', this.clock.now());
    const principal = session && (await this.users.principal(session.userId));
    if (!principal) return undefined;
    const { id: sessionId, authenticatedAt } = session;
    return { ...principal, credential: { kind: 'session', sessionId, authenticatedAt } };
  }

  /** Whose password was right and whose second factor is still missing. */
  async awaitingSecondFactor(token: string): Promise<DashboardPrincipal | undefined> {
    const session = await this.repository.find(sha256(token), 'second_factor', this.clock.now());
    return session ? this.users.principal(session.userId) : undefined;
  }

  /** @returns whether there was such a session; of rivals that end the same one it is told to one */
  async end(token: string): Promise<boolean> {
    return this.repository.end(sha256(token));
  }

  /** The newest login first. */
  async ofUser(userId: string): Promise<DashboardSession[]> {
    return this.repository.ofUser(userId, this.clock.now());
  }

  async endOne(userId: string, sessionId: string): Promise<void> {
    await this.repository.endOne(userId, sessionId);
  }

  async endAll(userId: string): Promise<void> {
    await this.repository.endAll(userId);
  }

  /** All but the one that the user acts in. */
  async endOthers(userId: string, sessionId: string): Promise<void> {
    await this.repository.endAllBut(userId, sessionId);
  }
}
