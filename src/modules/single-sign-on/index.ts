export { SsoLoginsService } from './logins/sso-logins.service.js';
export { SamlCertificatesService } from './saml/saml-certificates.service.js';
export { SingleSignOnModule } from './single-sign-on.module.js';
