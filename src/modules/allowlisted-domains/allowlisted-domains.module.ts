import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DOMAIN_PAGES } from './allowlisted-domains.pages.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsJob } from './domain-proofs.job.js';
import { DomainProofsService } from './domain-proofs.service.js';
import './allowlisted-domains.capability.js';

/** The email domains that users may be invited from, and their proofs. */
@Module({
  imports: [AuditLogsModule],
  controllers: DOMAIN_PAGES,
  providers: [AllowlistedDomainsService, DomainProofsService, DomainProofsJob],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}
