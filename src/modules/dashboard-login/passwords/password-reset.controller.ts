import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { PasswordResetFlow } from './password-reset.flow.js';

@Controller('password-reset')
export class PasswordResetController {
  constructor(private readonly flow: PasswordResetFlow) {}

  @Get()
  @PageRoute({ login: false })
  begin(): PageResponse {
    return this.flow.begin();
  }

  @Post()
  @PageRoute({ login: false, form: true })
  request(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    return this.flow.request(form, request, response);
  }

  @Get('confirm')
  @PageRoute({ login: false })
  show(@Query('token') token: unknown): Promise<PageResponse> {
    return this.flow.show(token);
  }

  @Post('confirm')
  @PageRoute({ login: false, form: true })
  set(@FormBody() form: FormFields, @Req() request: Request): Promise<PageResponse> {
    return this.flow.set(form, request);
  }

  @Get('done')
  @PageRoute({ login: false })
  done(): PageResponse {
    return this.flow.done();
  }
}
