import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ApiOperations } from './api-operations.js';
import { DocumentationController } from './documentation.controller.js';
import { DocumentationService } from './documentation.service.js';
import { DefaultExceptionFilter } from './site-exception.filter.js';
import './documentation.capability.js';

/** The site below `/docs`: guides, API reference, search; pages for unknown paths. */
@Module({
  controllers: [DocumentationController],
  providers: [ApiOperations, DocumentationService, { provide: APP_FILTER, useClass: DefaultExceptionFilter }],
})
export class DocumentationModule {}
