export { AllowlistedDomainsModule } from './allowlisted-domains.module.js';
export { AllowlistedDomainsService } from './allowlisted-domains.service.js';
