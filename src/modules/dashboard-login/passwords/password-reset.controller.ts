import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { PasswordResetPagesService } from './password-reset-pages.service.js';
import { passwordSetPage, resetRequestPage } from './password-reset.pages.js';

@Controller('password-reset')
export class PasswordResetController {
  constructor(private readonly pages: PasswordResetPagesService) {}

  @Get()
  @PageRoute({ login: false })
  begin(): PageResponse {
    return resetRequestPage();
  }

  @Post()
  @PageRoute({ login: false, form: true })
  request(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    return this.pages.request(form, request, response);
  }

  @Get('confirm')
  @PageRoute({ login: false })
  show(@Query('token') token: unknown): Promise<PageResponse> {
    return this.pages.show(token);
  }

  @Post('confirm')
  @PageRoute({ login: false, form: true })
  set(@FormBody() form: FormFields, @Req() request: Request): Promise<PageResponse> {
    return this.pages.set(form, request);
  }

  @Get('done')
  @PageRoute({ login: false })
  done(): PageResponse {
    return passwordSetPage();
  }
}
