import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { SamlConfiguration } from './saml-configuration.entity.js';
import { SamlConfigurationsController } from './saml-configurations.controller.js';
import { SamlConfigurationsPagesController } from './saml-configurations-pages.controller.js';
import { SamlConfigurationsRepository } from './saml-configurations.repository.js';
import { SamlConfigurationsService } from './saml-configurations.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([SamlConfiguration]), AuditLogsModule],
  controllers: [SamlConfigurationsController, SamlConfigurationsPagesController],
  providers: [SamlConfigurationsService, SamlConfigurationsRepository],
})
export class SamlConfigurationsModule {}
