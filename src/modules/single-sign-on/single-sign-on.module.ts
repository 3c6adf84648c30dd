import { Module } from '@nestjs/common';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardLoginModule } from '../dashboard-login/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { SamlMetadataReader } from './saml/saml-metadata.js';
import { SSO_CONFIGURATION_PAGES } from './configurations/sso-configurations.pages.js';
import { SsoConfigurationsService } from './configurations/sso-configurations.service.js';
import { SsoAttemptsRepository } from './logins/sso-attempts.repository.js';
import { SsoLoginsController } from './logins/sso-logins.controller.js';
import { SsoLoginsService } from './logins/sso-logins.service.js';
import { SsoUsersService } from './logins/sso-users.service.js';
import { OpenidProvider } from './openid/openid-provider.js';
import { SamlCertificatesService } from './saml/saml-certificates.service.js';
import { SamlKeysService } from './saml/saml-keys.service.js';
import { SamlProvider } from './saml/saml-provider.js';
import { SamlWorker } from './saml/saml-worker.js';
import { SsoSettingsPage } from './settings/sso-settings.pages.js';
import { SsoSettingsRepository } from './settings/sso-settings.repository.js';
import { SsoSettingsService } from './settings/sso-settings.service.js';

const PROVIDERS = [
  SsoConfigurationsService,
  OpenidProvider,
  SamlProvider,
  SamlKeysService,
  SamlMetadataReader,
  SamlWorker,
  SamlCertificatesService,
  SsoAttemptsRepository,
  SsoLoginsService,
  SsoUsersService,
  SsoSettingsService,
  SsoSettingsRepository,
];

@Module({
  imports: [AllowlistedDomainsModule, AuditLogsModule, DashboardLoginModule, DashboardUsersModule],
  controllers: [SsoSettingsPage, ...SSO_CONFIGURATION_PAGES, SsoLoginsController],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class SingleSignOnModule {}
