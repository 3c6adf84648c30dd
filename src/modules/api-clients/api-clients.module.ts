import { Module } from '@nestjs/common';
import { IssuedTokens, SecretVersions } from '../../infrastructure/issued-tokens/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ApiClientDirectory } from './api-client-directory.js';
import { ApiClientCredentialVerifier } from './api-client-credential-verifier.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { ApiClientsService } from './api-clients.service.js';
import { API_CREDENTIAL_PAGES } from './api-credentials.pages.js';
import { OrganizationAccessibleClients } from './organization-accessible-clients.js';
import { SigningSecrets } from './signing-secrets.js';
import './api-clients.capability.js';

const PROVIDERS = [
  ApiClientsService,
  ApiClientsRepository,
  ApiClientDirectory,
  SigningSecrets,
  ApiClientCredentialVerifier,
  OrganizationAccessibleClients,
];

/** `client_id`, secrets and environments; authentication of clients; viewing and rotating secrets. */
@Module({
  imports: [AuditLogsModule],
  controllers: API_CREDENTIAL_PAGES,
  providers: [...PROVIDERS, IssuedTokens, SecretVersions],
  exports: PROVIDERS,
})
export class ApiClientsModule {}
