import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { renderToString } from 'preact-render-to-string';
import type { DashboardIdentity } from '../auth/index.js';
import { FormTokens } from './form-tokens.js';
import { Layout } from './layout.js';
import type { PageResponse } from './page-response.js';

/**
 * Headers of pages, which add to or override those of every response: no scripts, no external resources, no framing.
 */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // With 'no-referrer', browsers would send `Origin: null` with our own forms, which would then look like those of
  // another site.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  // Other sites' windows get no reference to ours.
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Renders a page into the status, headers and body of the response. */
@Injectable()
export class PageRenderer {
  constructor(private readonly tokens: FormTokens) {}

  /** @returns the body. Status and headers are set on the response. */
  render(request: Request, response: Response, page: PageResponse): string {
    response.set(HEADERS).type('html');
    if ('redirectTo' in page) {
      response.status(303).location(page.redirectTo);
      return '';
    }
    const formToken = this.tokens.issue(request, response);
    const user = request.user as DashboardIdentity | undefined;
    const status = page.status ?? 200;
    const html = renderToString(
      <Layout title={page.title} isError={status >= 400} context={{ formToken, ...(user ? { user } : {}) }}>
        {page.content}
      </Layout>,
    );
    response.status(status).set(page.headers ?? {});
    return `<!doctype html>${html}`;
  }
}
