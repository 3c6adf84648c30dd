export { SsoAttemptsRepository } from './logins/sso-attempts.repository.js';
export { SsoLoginsService } from './logins/sso-logins.service.js';
export { SamlCertificatesService } from './configurations/saml-certificates.service.js';
export { SsoDomainsService } from './settings/sso-domains.service.js';
export { SsoSettingsRepository } from './settings/sso-settings.repository.js';
export { SsoSettingsService } from './settings/sso-settings.service.js';
export { SingleSignOnModule } from './single-sign-on.module.js';
