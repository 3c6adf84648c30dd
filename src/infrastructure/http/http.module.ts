import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { RequestValidationPipe } from '../validation/index.js';
import { ExceptionFilter } from './exception.filter.js';
import { RequestMetrics } from './request-metrics.js';
import { RequestSpans } from './request-spans.js';
import { RequestLifecycle } from './request-lifecycle.js';
import { RouteTable } from './route-table.js';

@Module({
  providers: [
    RouteTable,
    RequestMetrics,
    RequestSpans,
    RequestLifecycle,
    { provide: APP_FILTER, useClass: ExceptionFilter },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
  exports: [RequestLifecycle, RouteTable],
})
export class HttpModule {}
