import { Catch } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../../infrastructure/errors/index.js';
import { ExceptionFilter } from '../../infrastructure/http/index.js';
import { UnknownPages } from '../../infrastructure/pages/index.js';
import { DocumentationService } from './documentation.service.js';

/** Shows errors of the site as pages, if the client prefers HTML, as browsers do. */
@Catch()
export class SiteExceptionFilter extends ExceptionFilter {
  constructor(private readonly documentation: DocumentationService) {
    super();
  }

  protected override bodyOf(
    error: ApiError,
    request: Request,
    response: Response,
  ): object | string | Promise<object | string> {
    if (request.accepts(['json', 'html']) !== 'html') return super.bodyOf(error, request, response);
    // If the site cannot be loaded, for example because a file is missing, programs and people get the same.
    return this.documentation.errorPage(error, request, response).catch(() => error.body);
  }
}

/**
 * The filter of all routes without one of their own, and of requests that no route accepts. Browsers get pages for the latter:
 * logged-in users those of the dashboard if the address is one of it, and others those of the site.
 */
@Catch()
export class DefaultExceptionFilter extends SiteExceptionFilter {
  constructor(
    documentation: DocumentationService,
    private readonly pages: UnknownPages,
  ) {
    super(documentation);
  }

  protected override async bodyOf(
    error: ApiError,
    request: Request,
    response: Response,
  ): Promise<object | string> {
    if (request.route !== undefined) return error.body;
    const isDashboard = request.accepts(['json', 'html']) === 'html' && this.routes.serves(['dashboard']);
    const page = isDashboard && (await this.pages.show(error, request, response).catch(() => undefined));
    return page || super.bodyOf(error, request, response);
  }
}
