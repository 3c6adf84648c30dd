import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BasicStrategy, AccessibleClients, CredentialVerifier } from '../../infrastructure/auth/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ApiClient } from './api-client.entity.js';
import { ApiClientDirectory } from './api-client-directory.js';
import { ApiClientCredentialVerifier } from './api-client-credential-verifier.js';
import { ApiClientsController } from './api-clients.controller.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { ApiClientsService } from './api-clients.service.js';
import { ApiSecret } from './api-secret.entity.js';
import { ApiSecretsService } from './api-secrets.service.js';
import { OrganizationAccessibleClients } from './organization-accessible-clients.js';
import { SigningSecrets } from './signing-secrets.js';

/** Global, because other modules inject `AccessibleClients`, a port of the infrastructure. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiClient, ApiSecret])],
  providers: [
    ApiClientsService,
    ApiClientsRepository,
    ApiClientDirectory,
    SigningSecrets,
    { provide: CredentialVerifier, useClass: ApiClientCredentialVerifier },
    { provide: AccessibleClients, useClass: OrganizationAccessibleClients },
    BasicStrategy,
  ],
  exports: [AccessibleClients, ApiClientsService, ApiClientDirectory, ApiClientsRepository, SigningSecrets],
})
export class ApiClientsModule {}

/** Operations on the clients of an organization: only where the dashboard API is served. */
@Module({
  imports: [ApiClientsModule, AuditLogsModule],
  controllers: [ApiClientsController],
  providers: [ApiSecretsService],
})
export class ApiClientOperationsModule {}
