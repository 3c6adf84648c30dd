import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { FormFields } from '../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../infrastructure/pages/index.js';
import { RateLimitGuard } from '../../infrastructure/rate-limiting/index.js';
import { SIGN_IN_RATE_EXCEEDED } from './sign-in-link-errors.js';
import { SignInLinksConfiguration } from './sign-in-links.configuration.js';
import { SignInPagesService } from './sign-in-pages.service.js';

const FormLimitGuard = RateLimitGuard(
  {
    name: 'sign-in-forms',
    requests: (configuration) => configuration.get(SignInLinksConfiguration).formsPerMinute,
    per: 'address',
    seconds: 60,
  },
  SIGN_IN_RATE_EXCEEDED,
);

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
  @PageRoute({ surface: 'connector', login: false, form: true, limit: FormLimitGuard })
  submit(@Param('token') token: string, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.submit(token, form);
  }
}
