import { Module } from '@nestjs/common';
import { ApiOperations } from './api-operations.js';
import { DocumentationController } from './documentation.controller.js';
import { DocumentationService } from './documentation.service.js';
import { SiteErrorFormat } from './site-error-format.js';

@Module({
  controllers: [DocumentationController],
  providers: [ApiOperations, DocumentationService, SiteErrorFormat],
})
export class DocumentationModule {}
