export { ServiceTokensModule } from './service-tokens.module.js';
export { ServiceTokensService, type IssuedServiceToken } from './service-tokens.service.js';
export { ServiceTokenVerifier } from './service-token-verifier.js';
