import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  CurrentClient,
  EnvironmentGuard,
  type AuthenticatedClient,
} from '../../../infrastructure/auth/index.js';
import { NO_ACCESS } from '../../../infrastructure/errors/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../../infrastructure/surfaces/index.js';
import { DEVELOPMENT_ONLY, STREAM_SCOPE, STREAM_WEBHOOKS } from './webhook-stream.dto.js';
import { WebhookStreamService } from './webhook-stream.service.js';

const GUARDS = [EnvironmentGuard('development', NO_ACCESS, DEVELOPMENT_ONLY)];

@Topic('Sandbox')
@Controller('development')
export class WebhookStreamController {
  constructor(private readonly stream: WebhookStreamService) {}

  @Get('webhooks/stream')
  @PlatformOperation(STREAM_WEBHOOKS, STREAM_SCOPE, { guards: GUARDS })
  open(
    @CurrentClient() client: AuthenticatedClient,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.stream.open(client, request, response);
  }
}
