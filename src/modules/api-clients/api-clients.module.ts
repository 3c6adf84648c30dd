import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ApiClientDirectory } from './api-client-directory.js';
import { ApiClientCredentialVerifier } from './api-client-credential-verifier.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { ApiClientsService } from './api-clients.service.js';
import { API_CREDENTIAL_PAGES } from './api-credentials.pages.js';
import { OrganizationAccessibleClients } from './organization-accessible-clients.js';
import { SigningSecrets } from './signing-secrets.js';

const PROVIDERS = [
  ApiClientsService,
  ApiClientsRepository,
  ApiClientDirectory,
  SigningSecrets,
  ApiClientCredentialVerifier,
  OrganizationAccessibleClients,
];

@Module({
  imports: [AuditLogsModule],
  controllers: API_CREDENTIAL_PAGES,
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class ApiClientsModule {}
