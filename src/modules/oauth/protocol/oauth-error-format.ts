import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { ErrorFormats, type ErrorFormat } from '../../../infrastructure/http/index.js';
import { oauthBodyOf } from './oauth-error-body.js';

/** By the path, in any case as routes are: also where there is no such endpoint, or not with this method. */
const OAUTH_PATHS = /^\/(?:oauth(?:\/|$)|\.well-known\/(?:oauth-authorization-server|jwks\.json)\/?$)/i;

/** Tells the errors of OAuth's endpoints so that its clients and those of this API both understand. */
@Injectable()
export class OAuthErrorFormat implements ErrorFormat, OnModuleInit {
  constructor(private readonly dialects: ErrorFormats) {}

  onModuleInit(): void {
    this.dialects.register(this);
  }

  appliesTo(request: Request): boolean {
    return OAUTH_PATHS.test(request.path);
  }

  send(error: ApiError, _request: Request, response: Response): void {
    response.status(error.status).set(error.headers).json(oauthBodyOf(error));
  }
}
