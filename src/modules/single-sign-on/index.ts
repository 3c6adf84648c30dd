export { SsoLoginsService } from './logins/sso-logins.service.js';
export { SingleSignOnModule } from './single-sign-on.module.js';
