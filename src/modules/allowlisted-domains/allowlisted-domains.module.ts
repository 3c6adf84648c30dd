import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { DOMAIN_PAGES } from './allowlisted-domains.pages.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsJob } from './domain-proofs.job.js';
import { DomainProofsService } from './domain-proofs.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AllowlistedDomain]), AuditLogsModule],
  controllers: DOMAIN_PAGES,
  providers: [AllowlistedDomainsService, AllowlistedDomainsRepository, DomainProofsService, DomainProofsJob],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}
