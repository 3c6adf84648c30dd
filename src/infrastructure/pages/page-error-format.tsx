import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_ACCESS_TOKEN, type ApiError } from '../errors/index.js';
import { ErrorFormats, type ErrorFormat } from '../http/index.js';
import { Notice } from './layout.js';
import type { PageResponse } from './page-response.js';
import { PageRenderer } from './page.renderer.js';

const PAGE = Symbol('page');

/** From here on errors of this request are told as pages. */
export function markAsPage(request: Request & { [PAGE]?: true }): void {
  request[PAGE] = true;
}

/** Tells a person in a browser what went wrong; who is not logged in is sent to do so. */
@Injectable()
export class PageErrorFormat implements ErrorFormat, OnModuleInit {
  constructor(
    private readonly dialects: ErrorFormats,
    private readonly renderer: PageRenderer,
  ) {}

  onModuleInit(): void {
    this.dialects.register(this);
  }

  appliesTo(request: Request & { [PAGE]?: true }): boolean {
    return request[PAGE] === true;
  }

  send(error: ApiError, request: Request, response: Response): void {
    response.send(this.renderer.render(request, response, pageOf(error, request)));
  }
}

function pageOf(error: ApiError, request: Request): PageResponse {
  if (error.code === INVALID_ACCESS_TOKEN.code) {
    // Of a form that was sent only the page is found again, not what was in it.
    const next = request.method === 'GET' ? request.originalUrl : request.path;
    return { redirectTo: `/login?next=${encodeURIComponent(next)}` };
  }
  return {
    title: 'That did not work',
    status: error.status,
    headers: error.headers,
    content: <Notice kind="bad">{error.message}</Notice>,
  };
}
