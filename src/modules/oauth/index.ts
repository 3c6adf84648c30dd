export {
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  OAuthErrorKind,
  UNSUPPORTED_GRANT_TYPE,
} from './protocol/oauth-errors.js';
export {
  authenticationMethodsOf,
  bearerToken,
  grantTypesOf,
  messageAboutGrantType,
  TokenEndpoint,
  type Grant,
  type GrantClass,
} from './protocol/grant.js';
export {
  ParameterField,
  parametersIn,
  AgentForm,
  scopesIn,
  type FormParameters,
} from './protocol/oauth-form.js';
export { oauthBodyOf, OAuthMetadata, OAuthOperation } from './protocol/oauth-operation.js';
export {
  DISPLAYED_USER_CODE,
  formatUserCode,
  generateUserCode,
  isBlankUserCode,
  parseUserCode,
} from './authorizations/user-code.js';
export { OAuthModule } from './oauth.module.js';
export { TokenSigningKeysService, type TokenSigningKeyStatus } from './tokens/token-signing-keys.service.js';
export { ActiveAccessTokenVerifier } from './tokens/active-access-token-verifier.js';
export { CurrentAccessTokens } from './tokens/current-access-tokens.js';
