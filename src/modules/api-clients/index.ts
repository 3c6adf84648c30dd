export { ApiClientDirectory, type ClientRecord } from './api-client-directory.js';
export { API_CLIENT_NOT_FOUND, ApiClientsService, type IssuedCredentials } from './api-clients.service.js';
export { ApiClientsModule } from './api-clients.module.js';
export { OrganizationAccessibleClients } from './organization-accessible-clients.js';
export { SigningSecrets } from './signing-secrets.js';
export { ApiClientCredentialVerifier } from './api-client-credential-verifier.js';
