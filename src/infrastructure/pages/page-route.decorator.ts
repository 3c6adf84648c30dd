import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { OnSurface, type FormFields } from '../http/index.js';
import type { PageResponse } from './page-response.js';
import { FormGuard, LoginGuard, PageGuard } from './page.guards.js';
import { PageRenderer } from './page.renderer.js';

/** Makes the page of what its handler answers with. */
@Injectable()
class PageInterceptor implements NestInterceptor<PageResponse, string> {
  constructor(private readonly renderer: PageRenderer) {}

  intercept(context: ExecutionContext, next: CallHandler<PageResponse>): Observable<string> {
    const http = context.switchToHttp();
    const render = (answer: PageResponse): string =>
      this.renderer.render(http.getRequest<Request>(), http.getResponse<Response>(), answer);
    return next.handle().pipe(map(render));
  }
}

export interface PageRouteOptions {
  /** Whether it is for who is logged in. */
  readonly login: boolean;
  /** Whether a form is sent to it. */
  readonly form?: boolean;
}

/** A page for people: no part of the API, and not in its document. The handler answers with a `PageAnswer`. */
export function PageRoute({ login, form = false }: PageRouteOptions): MethodDecorator {
  return applyDecorators(
    OnSurface('dashboard'),
    ApiExcludeEndpoint(),
    UseGuards(PageGuard, ...(login ? [LoginGuard] : []), ...(form ? [FormGuard] : [])),
    UseInterceptors(PageInterceptor),
  );
}

/** The handler's parameter that holds the form that was sent to a page. */
export const FormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): FormFields =>
    context.switchToHttp().getRequest<Request>().body as FormFields,
);
