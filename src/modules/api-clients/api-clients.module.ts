import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ApiClient, ApiSecret } from './api-client.entity.js';
import { ApiClientDirectory } from './api-client-directory.js';
import { ApiClientCredentialVerifier } from './api-client-credential-verifier.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { ApiClientsService } from './api-clients.service.js';
import { API_CREDENTIAL_PAGES } from './api-credentials.pages.js';
import { OrganizationAccessibleClients } from './organization-accessible-clients.js';
import { SigningSecrets } from './signing-secrets.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiClient, ApiSecret]), AuditLogsModule],
  controllers: API_CREDENTIAL_PAGES,
  providers: [
    ApiClientsService,
    ApiClientsRepository,
    ApiClientDirectory,
    SigningSecrets,
    ApiClientCredentialVerifier,
    OrganizationAccessibleClients,
  ],
  exports: [
    ApiClientCredentialVerifier,
    OrganizationAccessibleClients,
    ApiClientsService,
    ApiClientDirectory,
    SigningSecrets,
  ],
})
export class ApiClientsModule {}
