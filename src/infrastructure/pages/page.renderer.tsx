import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { renderToString } from 'preact-render-to-string';
import type { DashboardIdentity } from '../auth/index.js';
import { FormTokens } from './form-tokens.js';
import { Layout } from './layout.js';
import type { PageResponse } from './page-response.js';

/** Beyond what every answer has: no script, nothing from elsewhere, in nobody's frame. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // Not 'no-referrer': browsers would send `Origin: null` with our own forms, as if they were another site's.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  // No window of another site keeps a hand on ours.
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Turns what a handler answers with into the status, headers and text of the response. */
@Injectable()
export class PageRenderer {
  constructor(private readonly tokens: FormTokens) {}

  /** @returns the body, to be sent with what was set on the response */
  render(request: Request, response: Response, answer: PageResponse): string {
    response.set(HEADERS).type('html');
    if ('redirectTo' in answer) {
      response.status(303).location(answer.redirectTo);
      return '';
    }
    const formToken = this.tokens.issue(request, response);
    const user = request.user as DashboardIdentity | undefined;
    const status = answer.status ?? 200;
    const html = renderToString(
      <Layout title={answer.title} isError={status >= 400} context={{ formToken, ...(user ? { user } : {}) }}>
        {answer.content}
      </Layout>,
    );
    response.status(status).set(answer.headers ?? {});
    return `<!doctype html>${html}`;
  }
}
