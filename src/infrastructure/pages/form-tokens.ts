import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sessionTokenOf, type DashboardIdentity } from '../auth/index.js';
import { CryptoConfiguration, SecretDigest } from '../crypto/index.js';
import { cookieOf, setCookie } from '../http/index.js';
import { Clock, DAY } from '../time/index.js';

const BROWSER_COOKIE = 'browser';
const BROWSER_COOKIE_LIFETIME = 365 * DAY;

/** Returns the cookie that identifies the browser. Every browser that submits a form has one. */
export function browserOf(request: Request): string | undefined {
  return cookieOf(request, BROWSER_COOKIE);
}

/** Bytes of each part of a token. */
const SIGNATURE_LENGTH = 16;

/**
 * Anti-forgery tokens. A token is bound to the browser, through a cookie that is set with the first page, and to the
 * login session, so that forms become invalid when the session ends. The server stores no tokens.
 *
 * A token has a signature for the browser and the session, and one for the browser alone. Forms that need no login accept the second,
 * because the session changes when such a form is sent twice. On pages of logged-in users, a third signature names the user, so that
 * nobody else who logs in to the browser gets the form to send again. Tokens of version 0.4 lack it, and that version ignores it.
 */
@Injectable()
export class FormTokens {
  private readonly key: Buffer;

  constructor(
    configuration: CryptoConfiguration,
    private readonly clock: Clock,
  ) {
    this.key = configuration.derivedKey('form token');
  }

  /**
   * Returns the token for the forms of a page. Sets the browser's cookie if it is missing.
   *
   * @param shownAgain the token of the form that the page shows again: it stays the form of its user until somebody is logged in
   */
  issue(request: Request, response: Response, shownAgain = ''): string {
    const browser = this.identify(request, response);
    const user = request.user as DashboardIdentity | undefined;
    return Buffer.concat([
      this.sign(browser, sessionTokenOf(request) ?? ''),
      this.sign(browser, ''),
      user ? this.sign(user.userId) : partOf(shownAgain, 2),
    ]).toString('base64url');
  }

  /**
   * Returns the cookie that identifies the browser. Sets it if it is missing, and again on pages that are opened while nobody is logged
   * in, such as the login: otherwise, browsers would forget it a year after the first visit, and then look new to a user who logs in
   * every day.
   */
  identify(request: Request, response: Response): string {
    const locals = response.locals as { browser?: string };
    const known = locals.browser ?? browserOf(request);
    const isRenewed = request.method === 'GET' && !request.user && !locals.browser;
    if (known && !isRenewed) return known;
    const browser = known ?? randomBytes(16).toString('base64url');
    locals.browser = browser;
    const expires = new Date(this.clock.milliseconds() + BROWSER_COOKIE_LIFETIME);
    setCookie(response, BROWSER_COOKIE, browser, expires);
    return browser;
  }

  /** Returns whether the token was issued for this browser and, if a login is required, for this login. */
  isValid(request: Request, token: string, requiresLogin: boolean): boolean {
    const browser = browserOf(request);
    if (!browser) return false;
    if (SecretDigest.equal(partOf(token, 0), this.sign(browser, sessionTokenOf(request) ?? ''))) return true;
    return !requiresLogin && SecretDigest.equal(partOf(token, 1), this.sign(browser, ''));
  }

  /** Returns whether the token was issued for a page of this user, in any browser and with any login. */
  isOfUser(token: string, { userId }: DashboardIdentity): boolean {
    return SecretDigest.equal(partOf(token, 2), this.sign(userId));
  }

  /** The values are signed as an array: the ID of a user is never taken for a browser and its session. */
  private sign(...values: readonly string[]): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify(values))
      .digest()
      .subarray(0, SIGNATURE_LENGTH);
  }
}

/** @returns an empty buffer if the token has no such part */
function partOf(token: string, part: number): Buffer {
  const begin = part * SIGNATURE_LENGTH;
  return Buffer.from(token, 'base64url').subarray(begin, begin + SIGNATURE_LENGTH);
}
