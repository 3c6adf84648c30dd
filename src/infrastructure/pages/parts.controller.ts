import { Controller, Get } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import type { PageResponse } from './page-response.js';
import { PageRoute } from './page-route.decorator.js';
import { partsPage } from './parts.pages.js';

/** For developers: all parts of pages on one page. It exists only in development. */
@Controller('dashboard/parts')
export class PartsController {
  constructor(private readonly configuration: ServiceConfiguration) {}

  @Get()
  @PageRoute({ login: true })
  show(): PageResponse {
    return partsPage(this.configuration);
  }
}
