import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { AllowlistedDomainsController } from './allowlisted-domains.controller.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AllowlistedDomain]), AuditLogsModule],
  providers: [AllowlistedDomainsService, AllowlistedDomainsRepository],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}

/** The operations. Loaded only where the dashboard API is served. */
@Module({
  imports: [AllowlistedDomainsModule, AuditLogsModule],
  controllers: [AllowlistedDomainsController],
})
export class AllowlistedDomainOperationsModule {}
