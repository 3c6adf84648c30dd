import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { clearCookie, cookieOf, setCookie } from '../../infrastructure/http/index.js';
import { browserOf } from '../../infrastructure/pages/index.js';
import { Clock, MINUTE } from '../../infrastructure/time/index.js';
import { IdentificationsService, type AgentIssuer, type PageLogin } from '../agent-authorization/index.js';
import type { Endable } from './user-page.service.js';

const COOKIE = 'user_page';
/** Milliseconds from the beginning of the login. */
const LIFETIME = 15 * MINUTE;

/** A user who has opened the page, until `expiresAt`. */
interface UserSession {
  readonly loginId: string;
  readonly externalUserId: string;
  readonly expiresAt: number;
  /** What the user has just ended, which no longer exists when the page says so. */
  readonly ended?: EndedThing | undefined;
}

interface RequestAndResponse {
  readonly request: Request;
  readonly response: Response;
}

/** As JSON: with the time in ISO 8601. */
export type EndedThing = Omit<Endable, 'since'> & { readonly since: string };

/**
 * The cookie with which a user stays on the page: for 15 minutes from the beginning of the login, in one browser, at one API client, and
 * until the login ends. No other route reads it. It is sealed, so that it does not show the user.
 */
@Injectable()
export class UserSessions {
  constructor(
    private readonly identifications: IdentificationsService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Opens the page to a user who has logged in for it. @returns false if the login is not finished, or is not for this page */
  async open(
    client: AgentIssuer,
    loginId: string,
    { request, response }: RequestAndResponse,
  ): Promise<boolean> {
    const browser = browserOf(request);
    const login = await this.identifications.findFinished(client, loginId, loginOf(client), browser);
    if (!login || login.externalUserId === null || browser === undefined) return false;
    const { externalUserId } = login;
    const expiresAt = login.createdAt.getTime() + LIFETIME;
    // Without the login, the page would be closed.
    if (!(await this.identifications.keep(login, new Date(expiresAt)))) return false;
    this.set(client, browser, { loginId, externalUserId, expiresAt }, response);
    return true;
  }

  /** Remembers what the user has ended, or forgets it, once the page has said so. */
  remember(
    client: AgentIssuer,
    session: UserSession,
    ended: EndedThing | undefined,
    { request, response }: RequestAndResponse,
  ): void {
    const browser = browserOf(request);
    if (browser !== undefined) this.set(client, browser, { ...session, ended }, response);
  }

  private set(client: AgentIssuer, browser: string, session: UserSession, response: Response): void {
    const sealed = this.sealer.seal(JSON.stringify(session), ownerOf(client, browser));
    setCookie(response, COOKIE, sealed.toString('base64url'), new Date(session.expiresAt));
  }

  /** Returns who has opened the page, if the cookie says so and the page was not closed since: somebody may have copied the cookie. */
  async find(client: AgentIssuer, request: Request): Promise<UserSession | undefined> {
    const session = this.sessionIn(client, request);
    if (!session) return undefined;
    const { loginId } = session;
    const login = loginOf(client);
    const isOpen = await this.identifications.findFinished(client, loginId, login, browserOf(request));
    return isOpen && session;
  }

  private sessionIn(client: AgentIssuer, request: Request): UserSession | undefined {
    const browser = browserOf(request);
    const cookie = cookieOf(request, COOKIE);
    if (browser === undefined || cookie === undefined) return undefined;
    try {
      const text = this.sealer.open(Buffer.from(cookie, 'base64url'), ownerOf(client, browser));
      const session = JSON.parse(text) as UserSession;
      return session.expiresAt > this.clock.milliseconds() ? session : undefined;
    } catch {
      // The cookie was sealed for another browser or client, or was not made by this service.
      return undefined;
    }
  }

  /**
   * Closes the page. No login of the browser can open it again: the user may have logged in more than once. The cookie can be that of
   * another client's page, which stays open.
   */
  async close(client: AgentIssuer, { request, response }: RequestAndResponse): Promise<void> {
    const browser = browserOf(request);
    if (browser !== undefined) await this.identifications.endAll(client, loginOf(client), browser);
    if (this.sessionIn(client, request)) clearCookie(response, COOKIE);
  }
}

/** Returns the path of the page of an API client. */
export function userPagePathOf({ clientId }: Pick<AgentIssuer, 'clientId'>): string {
  return `/users/${clientId}`;
}

export function loginOf(client: AgentIssuer): PageLogin {
  return { purpose: 'user_page', continueAt: userPagePathOf(client) };
}

function ownerOf({ clientId }: AgentIssuer, browser: string): string[] {
  return ['user_page', clientId, browser];
}
