import { Body, Controller, Post } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { JsonOrLinesBodyGuard } from '../../infrastructure/http/index.js';
import { IdempotencyKeyHeader } from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { InternalOperation } from '../../infrastructure/surfaces/index.js';
import {
  EventResultsResponse,
  MAX_BATCH_BYTES,
  MAX_EVENTS,
  PUBLISH_EVENT,
  PUBLISH_EVENTS,
  PublishEventRequest,
  PublishEventsRequest,
} from './events.dto.js';
import { EventResponse, withIdempotencyKey } from '../webhooks/index.js';
import { EventsService } from './events.service.js';

@Topic('Events', 'Publishes the events that the endpoints of API clients receive as webhooks.', 120)
@ApiExtraModels(PublishEventRequest)
@Controller('events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Post()
  @InternalOperation(PUBLISH_EVENT, 'events:publish')
  publish(
    @Body() request: PublishEventRequest,
    @IdempotencyKeyHeader() key?: string,
  ): Promise<EventResponse> {
    return this.events.publish(withIdempotencyKey(request, key));
  }

  @Post('batch')
  @InternalOperation(
    PUBLISH_EVENTS,
    'events:publish',
    JsonOrLinesBodyGuard('events', { size: MAX_BATCH_BYTES, items: MAX_EVENTS }),
  )
  publishBatch(
    @Body() request: PublishEventsRequest,
    @IdempotencyKeyHeader() key?: string,
  ): Promise<EventResultsResponse> {
    return this.events.publishBatch(request, key);
  }
}
