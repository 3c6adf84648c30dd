import { Controller, Get, Param } from '@nestjs/common';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { InternalOperation } from '../../../infrastructure/surfaces/index.js';
import { GET_EVENT, type EventStatusResponse } from './published-events.dto.js';
import { PublishedEventsService } from './published-events.service.js';

@Topic('Events')
@Controller('events')
export class PublishedEventsController {
  constructor(private readonly events: PublishedEventsService) {}

  @Get(':id')
  @InternalOperation(GET_EVENT, 'events:publish')
  get(@Param('id') id: string): Promise<EventStatusResponse> {
    return this.events.statusOf(id);
  }
}
