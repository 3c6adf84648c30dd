export { ServiceTokensModule } from './service-tokens.module.js';
export {
  DEFAULT_SERVICE_TOKEN_OVERLAP_HOURS,
  ServiceTokensService,
  type IssuedServiceToken,
} from './service-tokens.service.js';
export { StoredServiceTokenVerifier } from './stored-service-token-verifier.js';
