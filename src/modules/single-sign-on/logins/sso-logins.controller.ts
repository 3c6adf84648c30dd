import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  sessionTokenOf,
  setSessionCookie,
  type DashboardIdentity,
} from '../../../infrastructure/auth/index.js';
import { PageRoute, type PageResponse } from '../../../infrastructure/pages/index.js';
import { loginBrowserOf, withNext } from '../../dashboard-login/index.js';
import { failedLoginPage, testedPage } from './sso-logins.pages.js';
import { SsoLoginsService } from './sso-logins.service.js';

/** Where identity providers send browsers after a login. */
@Controller('sso/oidc')
export class SsoLoginsController {
  constructor(private readonly logins: SsoLoginsService) {}

  @Get(':id')
  @PageRoute({ login: false })
  async finish(
    @Param('id') configurationId: string,
    @Query('state') state: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const finished = await this.logins.finish({
      configurationId,
      state: typeof state === 'string' ? state : '',
      query: new URL(request.originalUrl, 'http://own.invalid').search,
      user: request.user as DashboardIdentity | undefined,
      replacing: sessionTokenOf(request),
      ...loginBrowserOf(request),
    });
    if ('test' in finished) return testedPage(finished.configuration, finished.test);
    if ('problem' in finished) return failedLoginPage(finished.problem);
    const { opened, next } = finished;
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return { redirectTo: opened.stage === 'complete' ? next : withNext('/login/second-factor', next) };
  }
}
