export { ApiClientDirectory, type ClientRecord } from './api-client-directory.js';
export { ApiClientsService, type IssuedCredentials } from './api-clients.service.js';
export { ApiClientOperationsModule, ApiClientsModule } from './api-clients.module.js';
export { SigningSecrets } from './signing-secrets.js';
