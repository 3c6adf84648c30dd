export { OAuthModule } from './oauth.module.js';
export { TokenSigningKeysService, type TokenSigningKeyStatus } from './tokens/token-signing-keys.service.js';
export { ActiveAccessTokenVerifier } from './tokens/active-access-token.verifier.js';
