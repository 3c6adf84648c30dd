import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { withErrorBody } from '../../infrastructure/http/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
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
import { RevokedTokensRepository } from './tokens/revoked-tokens.repository.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { DevicePagesController } from './pages/device-pages.controller.js';
import { DevicesPage } from './pages/devices.pages.js';
import { oauthBodyOf } from './protocol/oauth-operation.js';
import { ActiveAccessTokenVerifier } from './tokens/active-access-token.verifier.js';
import { AccessTokensService } from './tokens/access-tokens.service.js';
import { DeviceCodeGrant } from './tokens/device-code.grant.js';
import { TokenKeyring } from './tokens/token-keyring.js';
import { TokenSigningKeysService } from './tokens/token-signing-keys.service.js';
import { TokensService } from './tokens/tokens.service.js';

const METADATA_PATHS = ['.well-known/oauth-authorization-server', '.well-known/jwks.json'];

@Module({
  imports: [ApiClientsModule, AuditLogsModule, DashboardUsersModule, McpTokensModule],
  controllers: [
    DeviceAuthorizationsController,
    TokensController,
    TokenManagementController,
    MetadataController,
    CurrentUserController,
    DevicePagesController,
    DevicesPage,
  ],
  providers: [
    DeviceAuthorizationsService,
    DeviceApprovalsService,
    DeviceAuthorizationsRepository,
    DevicePollsBatch,
    DeviceCodeGrant,
    AccessTokensService,
    ActiveAccessTokenVerifier,
    TokensService,
    TokenKeyring,
    TokenSigningKeysService,
    RevokedTokensRepository,
  ],
  exports: [ActiveAccessTokenVerifier, TokenSigningKeysService],
})
export class OAuthModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(withErrorBody(oauthBodyOf))
      .exclude(...METADATA_PATHS.map((path) => `${path}/*path`))
      .forRoutes('oauth/*path', ...METADATA_PATHS);
  }
}
