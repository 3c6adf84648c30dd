import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AllowlistedDomainsPagesController } from './allowlisted-domains-pages.controller.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsJob } from './domain-proofs.job.js';
import { DomainProofsService } from './domain-proofs.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: [AllowlistedDomainsPagesController],
  providers: [AllowlistedDomainsService, AllowlistedDomainsRepository, DomainProofsService, DomainProofsJob],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}
