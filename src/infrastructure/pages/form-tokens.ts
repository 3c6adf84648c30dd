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

/**
 * Anti-forgery tokens. A token is bound to the browser, through a cookie that is set with the first page, and to the
 * login session, so that forms become invalid when the session ends. The server stores no tokens.
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
    return this.sign(this.identify(request, response), session).toString('base64url');
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

  /** Returns whether the token was issued for this browser and login. */
  isValid(request: Request, token: string): boolean {
    const browser = browserOf(request);
    if (!browser) return false;
    const expected = this.sign(browser, sessionTokenOf(request));
    return SecretDigest.equal(Buffer.from(token, 'base64url'), expected);
  }

  private sign(browser: string, session = ''): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([browser, session]))
      .digest();
  }
}
