import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardLoginModule } from '../dashboard-login/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { SsoConfiguration } from './configurations/sso-configuration.entity.js';
import { SsoConfigurationsRepository } from './configurations/sso-configurations.repository.js';
import { SsoAttempt } from './logins/sso-attempt.entity.js';
import { SsoAttemptsRepository } from './logins/sso-attempts.repository.js';
import { SsoIdentity } from './logins/sso-identity.entity.js';
import { SsoLoginsController } from './logins/sso-logins.controller.js';
import { SsoLoginsService } from './logins/sso-logins.service.js';
import { OpenidConfigurationsPagesController } from './openid/openid-configurations-pages.controller.js';
import { OpenidConfigurationsService } from './openid/openid-configurations.service.js';
import { OpenidProvider } from './openid/openid-provider.js';
import { SamlConfigurationsPagesController } from './saml/saml-configurations-pages.controller.js';
import { SamlConfigurationsController } from './saml/saml-configurations.controller.js';
import { SamlConfigurationsService } from './saml/saml-configurations.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([SsoConfiguration, SsoAttempt, SsoIdentity]),
    AllowlistedDomainsModule,
    AuditLogsModule,
    DashboardLoginModule,
    DashboardUsersModule,
  ],
  controllers: [
    SamlConfigurationsController,
    OpenidConfigurationsPagesController,
    SamlConfigurationsPagesController,
    SsoLoginsController,
  ],
  providers: [
    SamlConfigurationsService,
    OpenidConfigurationsService,
    OpenidProvider,
    SsoConfigurationsRepository,
    SsoAttemptsRepository,
    SsoLoginsService,
  ],
  exports: [SsoLoginsService],
})
export class SingleSignOnModule {}
