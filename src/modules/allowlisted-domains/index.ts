export { AllowlistedDomainOperationsModule, AllowlistedDomainsModule } from './allowlisted-domains.module.js';
export { AllowlistedDomains } from './allowlisted-domains.service.js';
