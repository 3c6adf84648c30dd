import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { DetectedAccountsController, DetectionsController } from './detected-accounts.controller.js';
import { DetectedAccountsImport } from './detected-accounts.import.js';
import { DetectedAccountsBatch } from './detected-accounts.batch.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';
import { DetectedAccountsService } from './detected-accounts.service.js';
import './detected-accounts.capability.js';

/** Operations 5 and 6, `POST /detections`, bulk import. */
@Module({
  imports: [AuditLogsModule, MerchantsModule, ApiClientsModule, WebhooksModule],
  controllers: [DetectedAccountsController, DetectionsController],
  providers: [
    DetectedAccountsBatch,
    DetectedAccountsService,
    DetectedAccountsImport,
    DetectedAccountsRepository,
  ],
  exports: [DetectedAccountsImport, DetectedAccountsService],
})
export class DetectedAccountsModule {}
