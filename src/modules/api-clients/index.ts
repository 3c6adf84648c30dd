export { ApiClientDirectory, type ClientRecord } from './api-client-directory.js';
export { API_CLIENT_NOT_FOUND } from './api-clients-errors.js';
export {
  ApiClientsService,
  SECRET_USES,
  type IssuedCredentials,
  type SecretUse,
} from './api-clients.service.js';
export { ApiClientsModule } from './api-clients.module.js';
export { OrganizationAccessibleClients } from './organization-accessible-clients.js';
export { SigningSecrets } from './signing-secrets.js';
export { ApiClientCredentialVerifier, UNUSED_CLIENT_ID } from './api-client-credential-verifier.js';
