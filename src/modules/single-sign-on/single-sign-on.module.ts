import { Module } from '@nestjs/common';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardLoginModule } from '../dashboard-login/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { SamlMetadataReader } from './saml/saml-metadata.js';
import { SSO_CONFIGURATION_PAGES } from './configurations/sso-configurations.pages.js';
import { SetUpPage } from './configurations/sso-set-up.pages.js';
import { SsoConfigurationsService } from './configurations/sso-configurations.service.js';
import { SsoAttemptsRepository } from './logins/sso-attempts.repository.js';
import { SsoLoginsPage } from './logins/sso-login-steps.pages.js';
import { SsoLoginsService } from './logins/sso-logins.service.js';
import { SsoResponsesService } from './logins/sso-responses.service.js';
import { SsoUsersService } from './logins/sso-users.service.js';
import { OpenidProvider } from './openid/openid-provider.js';
import { SamlCertificatesJob } from './configurations/saml-certificates.job.js';
import { SamlCertificatesService } from './configurations/saml-certificates.service.js';
import { SamlKeysService } from './saml/saml-keys.service.js';
import { SamlProvider } from './saml/saml-provider.js';
import { SamlWorker } from './saml/saml-worker.js';
import { SsoDomainsService } from './settings/sso-domains.service.js';
import { SsoSettingsRepository } from './settings/sso-settings.repository.js';
import { SsoSettingsService } from './settings/sso-settings.service.js';
import './single-sign-on.capability.js';

const PROVIDERS = [
  SsoConfigurationsService,
  OpenidProvider,
  SamlProvider,
  SamlKeysService,
  SamlMetadataReader,
  SamlWorker,
  SamlCertificatesService,
  SamlCertificatesJob,
  SsoAttemptsRepository,
  SsoLoginsService,
  SsoResponsesService,
  SsoUsersService,
  SsoDomainsService,
  SsoSettingsService,
  SsoSettingsRepository,
];

/** Logging in through the identity providers of organizations. */
@Module({
  imports: [AllowlistedDomainsModule, AuditLogsModule, DashboardLoginModule, DashboardUsersModule],
  controllers: [SetUpPage, ...SSO_CONFIGURATION_PAGES, SsoLoginsPage],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class SingleSignOnModule {}
