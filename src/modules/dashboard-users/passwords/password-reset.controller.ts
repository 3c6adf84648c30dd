import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, SentForm, type PageAnswer } from '../../../infrastructure/pages/index.js';
import { PasswordResetFlow } from './password-reset.flow.js';

@Controller('password-reset')
export class PasswordResetController {
  constructor(private readonly flow: PasswordResetFlow) {}

  @Get()
  @PageRoute({ login: false })
  begin(): PageAnswer {
    return this.flow.begin();
  }

  @Post()
  @PageRoute({ login: false, form: true })
  request(
    @SentForm() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageAnswer> {
    return this.flow.request(form, request, response);
  }

  @Get('confirm')
  @PageRoute({ login: false })
  show(@Query('token') token: unknown): Promise<PageAnswer> {
    return this.flow.show(token);
  }

  @Post('confirm')
  @PageRoute({ login: false, form: true })
  set(@SentForm() form: FormFields, @Req() request: Request): Promise<PageAnswer> {
    return this.flow.set(form, request);
  }

  @Get('done')
  @PageRoute({ login: false })
  done(): PageAnswer {
    return this.flow.done();
  }
}
