export { AllowlistedDomainsModule } from './allowlisted-domains.module.js';
export { DomainLogins, type MissingProof } from './domain-logins.js';
export { AllowlistedDomainsService } from './allowlisted-domains.service.js';
export { AddDomainRequest } from './allowlisted-domains.dto.js';
export { DOMAIN_PERMISSIONS } from './allowlisted-domains.capability.js';
export { DomainPurpose, ProofRecord } from './allowlisted-domains.pages.js';
export type { AllowlistedDomain } from './allowlisted-domain.entity.js';
