import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Origin, type FormFields, type RequestOrigin } from '../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../infrastructure/pages/index.js';
import { SignInPagesService } from './sign-in-pages.service.js';

/** The token is in the path, which no log, trace or metric contains: they name the route. */
@Controller('sign-in/:token')
export class SignInPagesController {
  constructor(private readonly pages: SignInPagesService) {}

  @Get()
  @PageRoute({ surface: 'connector', login: false })
  show(@Param('token') token: string, @Query() query: Record<string, unknown>): Promise<PageResponse> {
    return this.pages.show(token, query);
  }

  @Post()
  @PageRoute({ surface: 'connector', login: false, form: true })
  submit(
    @Param('token') token: string,
    @FormBody() form: FormFields,
    @Origin() origin: RequestOrigin,
  ): Promise<PageResponse> {
    return this.pages.submit(token, form, origin);
  }
}
