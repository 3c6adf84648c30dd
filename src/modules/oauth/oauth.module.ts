import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { DeviceAuthorization } from './authorizations/device-authorization.entity.js';
import { DevicePollState } from './authorizations/device-poll-state.entity.js';
import { DeviceAuthorizationsController } from './authorizations/device-authorizations.controller.js';
import { DeviceAuthorizationsRepository } from './authorizations/device-authorizations.repository.js';
import { DevicePollsBatch } from './authorizations/device-polls.batch.js';
import { DeviceAuthorizationsService } from './authorizations/device-authorizations.service.js';
import { CurrentUserController } from './current-user/current-user.controller.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { MetadataService } from './metadata/metadata.service.js';
import { DevicePagesController } from './pages/device-pages.controller.js';
import { DeviceAccessService } from './tokens/device-access.service.js';
import { DevicePagesService } from './pages/device-pages.service.js';
import { DevicesPagesController } from './pages/devices-pages.controller.js';
import { DevicesPagesService } from './pages/devices-pages.service.js';
import { OAuthErrorFormat } from './protocol/oauth-error-format.js';
import { ActiveAccessTokenVerifier } from './tokens/active-access-token.verifier.js';
import { AccessTokensService } from './tokens/access-tokens.service.js';
import { DeviceCodeGrant } from './tokens/device-code.grant.js';
import { RevokedAccessToken } from './tokens/revoked-access-token.entity.js';
import { RevokedAccessTokensRepository } from './tokens/revoked-access-tokens.repository.js';
import { TokenKeyring } from './tokens/token-keyring.js';
import { TokenSigningKey } from './tokens/token-signing-key.entity.js';
import { TokenSigningKeysService } from './tokens/token-signing-keys.service.js';
import { TokenSigningKeysRepository } from './tokens/token-signing-keys.repository.js';
import { TokenSigningKeysRotation } from './tokens/token-signing-keys.rotation.js';
import { TokensController } from './tokens/tokens.controller.js';
import { TokensService } from './tokens/tokens.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([DeviceAuthorization, DevicePollState, TokenSigningKey, RevokedAccessToken]),
    ApiClientsModule,
    AuditLogsModule,
    DashboardUsersModule,
    McpTokensModule,
  ],
  controllers: [
    DeviceAuthorizationsController,
    TokensController,
    MetadataController,
    CurrentUserController,
    DevicePagesController,
    DevicesPagesController,
  ],
  providers: [
    OAuthErrorFormat,
    DeviceAuthorizationsService,
    DeviceAuthorizationsRepository,
    DevicePollsBatch,
    DeviceCodeGrant,
    AccessTokensService,
    ActiveAccessTokenVerifier,
    TokensService,
    RevokedAccessTokensRepository,
    TokenKeyring,
    TokenSigningKeysService,
    TokenSigningKeysRepository,
    TokenSigningKeysRotation,
    MetadataService,
    DevicePagesService,
    DeviceAccessService,
    DevicesPagesService,
  ],
  exports: [ActiveAccessTokenVerifier, TokenSigningKeysService],
})
export class OAuthModule {}
