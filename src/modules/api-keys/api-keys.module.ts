import { Module } from '@nestjs/common';
import { IssuedTokens } from '../../infrastructure/issued-tokens/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { API_KEY_PAGES } from './api-keys.pages.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { AssertionsService } from './assertions.service.js';
import { IssuerKeys } from './issuer-keys.js';
import './api-keys.capability.js';

/** Keys with which the programs of an organization authenticate, with scopes, IP ranges and an expiry. */
@Module({
  imports: [ApiClientsModule, AuditLogsModule],
  controllers: API_KEY_PAGES,
  providers: [ApiKeysService, ApiKeyVerifier, ApiKeysRepository, AssertionsService, IssuerKeys, IssuedTokens],
  exports: [ApiKeysService, ApiKeyVerifier, AssertionsService],
})
export class ApiKeysModule {}
