export { OAuthModule } from './oauth.module.js';
export { TokenSigningKeys, type DescribedKey } from './tokens/token-signing-keys.js';
