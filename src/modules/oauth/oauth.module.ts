import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { withErrorBody } from '../../infrastructure/http/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { ApiKeysModule } from '../api-keys/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { DeviceApprovalsService } from './authorizations/device-approvals.service.js';
import { DeviceAuthorizationsController } from './authorizations/device-authorizations.controller.js';
import { DeviceAuthorizationsRepository } from './authorizations/device-authorizations.repository.js';
import { DevicePollsBatch } from './authorizations/device-polls.batch.js';
import { DeviceAuthorizationsService } from './authorizations/device-authorizations.service.js';
import {
  CurrentUserController,
  TokenManagementController,
  TokensController,
} from './tokens/tokens.controller.js';
import { RevokedTokensRepository } from './revoked-tokens.repository.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { DevicePage } from './pages/device-steps.pages.js';
import { DevicesPage } from './pages/devices.pages.js';
import { TokenEndpoint } from './protocol/grant.js';
import { oauthBodyOf } from './protocol/oauth-operation.js';
import { ActiveAccessTokenVerifier } from './tokens/active-access-token-verifier.js';
import { AccessTokensService } from './tokens/access-tokens.service.js';
import { CurrentAccessTokens } from './tokens/current-access-tokens.js';
import { GRANTS } from './tokens/grants.js';
import { TokenKeyring } from './tokens/token-keyring.js';
import { TokenSigningKeysJob } from './tokens/token-signing-keys.job.js';
import { TokenSigningKeysService } from './tokens/token-signing-keys.service.js';
import { TokensService } from './tokens/tokens.service.js';
import './oauth.capability.js';

const METADATA_PATHS = ['.well-known/oauth-authorization-server', '.well-known/jwks.json'];

/** Operation 2: the device flow, access tokens and their keys, `/device`, `/me`. */
@Module({
  imports: [ApiClientsModule, ApiKeysModule, AuditLogsModule, DashboardUsersModule, McpTokensModule],
  controllers: [
    DeviceAuthorizationsController,
    TokensController,
    TokenManagementController,
    MetadataController,
    CurrentUserController,
    DevicePage,
    DevicesPage,
  ],
  providers: [
    DeviceAuthorizationsService,
    DeviceApprovalsService,
    DeviceAuthorizationsRepository,
    DevicePollsBatch,
    TokenEndpoint,
    ...GRANTS,
    AccessTokensService,
    ActiveAccessTokenVerifier,
    CurrentAccessTokens,
    TokensService,
    TokenKeyring,
    TokenSigningKeysService,
    TokenSigningKeysJob,
    RevokedTokensRepository,
  ],
  exports: [ActiveAccessTokenVerifier, CurrentAccessTokens, TokenSigningKeysService],
})
export class OAuthModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(withErrorBody(oauthBodyOf))
      .exclude(...METADATA_PATHS.map((path) => `${path}/*path`))
      .forRoutes('oauth/*path', ...METADATA_PATHS);
  }
}
