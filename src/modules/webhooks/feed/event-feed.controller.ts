import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CurrentClient, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../../infrastructure/surfaces/index.js';
import {
  FEED_SCOPE,
  READ_WEBHOOK_EVENTS,
  ReadWebhookEventsQuery,
  type WebhookEventListResponse,
} from './event-feed.dto.js';
import { EventFeedService } from './event-feed.service.js';

@Topic('Webhook events', 'The events of your client, to read instead of to receive.', 40)
@Controller('webhook-events')
export class EventFeedController {
  constructor(private readonly feed: EventFeedService) {}

  @Get()
  @PlatformOperation(READ_WEBHOOK_EVENTS, FEED_SCOPE)
  read(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ReadWebhookEventsQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WebhookEventListResponse> {
    return this.feed.read(client, query, request, response);
  }
}
