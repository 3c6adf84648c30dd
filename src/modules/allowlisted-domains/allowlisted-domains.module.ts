import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AllowlistedDomainsPagesController } from './allowlisted-domains-pages.controller.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsService } from './domain-proofs.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: [AllowlistedDomainsPagesController],
  providers: [AllowlistedDomainsService, DomainProofsService],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}
