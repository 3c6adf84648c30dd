import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../../infrastructure/errors/index.js';
import { ErrorFormats, type ErrorFormat } from '../../infrastructure/http/index.js';
import { DocumentationService } from './documentation.service.js';

/** Shows errors of unknown paths and of the site itself as pages, if the client prefers HTML, as browsers do. */
@Injectable()
export class SiteErrorFormat implements ErrorFormat, OnModuleInit {
  constructor(
    private readonly formats: ErrorFormats,
    private readonly documentation: DocumentationService,
  ) {}

  onModuleInit(): void {
    this.formats.register(this);
  }

  appliesTo(request: Request): boolean {
    const isOurs = request.route === undefined || request.path.startsWith('/docs/');
    return isOurs && request.accepts(['json', 'html']) === 'html';
  }

  send(error: ApiError, request: Request, response: Response): void {
    this.documentation
      .sendError(error, request, response)
      // The site cannot be loaded, for example because a file is missing.
      .catch(() => response.status(error.status).set(error.headers).json(error.body));
  }
}
