import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { LoginPagesService } from './login-pages.service.js';

@Controller()
export class LoginController {
  constructor(private readonly pages: LoginPagesService) {}

  /** Open to logged-in users too, because some operations require a recent login. */
  @Get('login')
  @PageRoute({ login: false })
  begin(@Query('next') next: unknown, @Query('again') again: unknown, @Req() request: Request): PageResponse {
    return this.pages.begin(next, again, request);
  }

  @Post('login')
  @PageRoute({ login: false, form: true })
  logIn(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    return this.pages.logIn(form, request, response);
  }

  @Get('login/second-factor')
  @PageRoute({ login: false })
  askSecondFactor(@Query('next') next: unknown, @Req() request: Request): Promise<PageResponse> {
    return this.pages.askSecondFactor(next, request);
  }

  @Post('login/second-factor')
  @PageRoute({ login: false, form: true })
  completeLogin(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    return this.pages.completeLogin(form, request, response);
  }

  @Post('logout')
  @PageRoute({ login: false, form: true })
  logOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<PageResponse> {
    return this.pages.logOut(request, response);
  }
}
