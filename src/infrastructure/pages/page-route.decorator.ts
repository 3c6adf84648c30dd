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

/** Renders the page that the handler returns. */
@Injectable()
class PageInterceptor implements NestInterceptor<PageResponse, string> {
  constructor(private readonly renderer: PageRenderer) {}

  intercept(context: ExecutionContext, next: CallHandler<PageResponse>): Observable<string> {
    const http = context.switchToHttp();
    const render = (page: PageResponse): string =>
      this.renderer.render(http.getRequest<Request>(), http.getResponse<Response>(), page);
    return next.handle().pipe(map(render));
  }
}

export interface PageRouteOptions {
  /** Whether the page requires a login. */
  readonly login: boolean;
  /** Whether the route receives a form. */
  readonly form?: boolean;
}

/** Marks a route as a page, which is not part of the API document. Its handler returns a `PageResponse`. */
export function PageRoute({ login, form = false }: PageRouteOptions): MethodDecorator {
  return applyDecorators(
    OnSurface('dashboard'),
    ApiExcludeEndpoint(),
    UseGuards(PageGuard, ...(login ? [LoginGuard] : []), ...(form ? [FormGuard] : [])),
    UseInterceptors(PageInterceptor),
  );
}

/** Handler parameter: the form that was sent to a page. */
export const FormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): FormFields =>
    context.switchToHttp().getRequest<Request>().body as FormFields,
);
