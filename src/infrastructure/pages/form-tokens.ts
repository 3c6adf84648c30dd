import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sessionTokenOf } from '../auth/index.js';
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
 * A token has two parts: a signature for the browser and the session, and one for the browser alone. Forms that need no login accept
 * the second, because the session changes when such a form is sent twice.
 */
@Injectable()
export class FormTokens {
  private readonly key: Buffer;

  constructor(
    configuration: CryptoConfiguration,
    private readonly clock: Clock,
  ) {
    const pepper = Buffer.from(configuration.secretPepper ?? '', 'base64');
    this.key = Buffer.from(hkdfSync('sha256', pepper, '', 'form token', 32));
  }

  /** Returns the token for the forms of a page. Sets the browser's cookie if it is missing. */
  issue(request: Request, response: Response, session = sessionTokenOf(request)): string {
    const browser = this.identify(request, response);
    return Buffer.concat([this.sign(browser, session), this.sign(browser)]).toString('base64url');
  }

  /** Returns the cookie that identifies the browser. Sets it if it is missing. */
  identify(request: Request, response: Response): string {
    const locals = response.locals as { browser?: string };
    const known = browserOf(request) ?? locals.browser;
    if (known) return known;
    const browser = randomBytes(16).toString('base64url');
    locals.browser = browser;
    const expires = new Date(this.clock.milliseconds() + BROWSER_COOKIE_LIFETIME);
    setCookie(response, BROWSER_COOKIE, browser, expires);
    return browser;
  }

  /** Returns whether the token was issued for this browser and, if a login is required, for this login. */
  isValid(request: Request, token: string, requiresLogin: boolean): boolean {
    const browser = browserOf(request);
    if (!browser) return false;
    const bytes = Buffer.from(token, 'base64url');
    const matches = (part: number, expected: Buffer): boolean =>
      SecretDigest.equal(bytes.subarray(part * SIGNATURE_LENGTH, (part + 1) * SIGNATURE_LENGTH), expected);
    if (matches(0, this.sign(browser, sessionTokenOf(request)))) return true;
    return !requiresLogin && matches(1, this.sign(browser));
  }

  private sign(browser: string, session = ''): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([browser, session]))
      .digest()
      .subarray(0, SIGNATURE_LENGTH);
  }
}
