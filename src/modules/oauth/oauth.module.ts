import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessTokenVerifier, BearerStrategy } from '../../infrastructure/auth/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { DeviceAuthorization } from './authorizations/device-authorization.entity.js';
import { DevicePollTime } from './authorizations/device-poll-time.entity.js';
import { DeviceAuthorizationsController } from './authorizations/device-authorizations.controller.js';
import { DeviceAuthorizationsRepository } from './authorizations/device-authorizations.repository.js';
import { DeviceAuthorizationsService } from './authorizations/device-authorizations.service.js';
import { CurrentUserController } from './current-user/current-user.controller.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { MetadataService } from './metadata/metadata.service.js';
import { DeviceDecision } from './pages/device-decision.js';
import { DevicePagesController } from './pages/device-pages.controller.js';
import { DevicePagesService } from './pages/device-pages.service.js';
import { DevicePollsRepository } from './authorizations/device-polls.repository.js';
import { OAuthClients } from './protocol/oauth-clients.js';
import { OAuthErrorFormat } from './protocol/oauth-error-format.js';
import { AccessTokens } from './tokens/access-tokens.js';
import { DeviceCodeExchange } from './tokens/device-code-exchange.js';
import { ActiveAccessTokens } from './tokens/active-access-tokens.js';
import { PresentedTokens } from './tokens/presented-tokens.js';
import { Redemption } from './tokens/redemption.js';
import { RevokedAccessToken } from './tokens/revoked-access-token.entity.js';
import { RevokedAccessTokensRepository } from './tokens/revoked-access-tokens.repository.js';
import { TokenKeyring } from './tokens/token-keyring.js';
import { TokenSigningKey } from './tokens/token-signing-key.entity.js';
import { TokenSigningKeys } from './tokens/token-signing-keys.js';
import { TokenSigningKeysRepository } from './tokens/token-signing-keys.repository.js';
import { TokenSigningKeysRotation } from './tokens/token-signing-keys.rotation.js';
import { TokensController } from './tokens/tokens.controller.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([DeviceAuthorization, DevicePollTime, TokenSigningKey, RevokedAccessToken]),
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
  ],
  providers: [
    OAuthClients,
    OAuthErrorFormat,
    DeviceAuthorizationsService,
    DeviceAuthorizationsRepository,
    DevicePollsRepository,
    DeviceCodeExchange,
    Redemption,
    AccessTokens,
    ActiveAccessTokens,
    PresentedTokens,
    RevokedAccessTokensRepository,
    TokenKeyring,
    TokenSigningKeys,
    TokenSigningKeysRepository,
    TokenSigningKeysRotation,
    MetadataService,
    DevicePagesService,
    DeviceDecision,
    { provide: AccessTokenVerifier, useExisting: ActiveAccessTokens },
    BearerStrategy,
  ],
  exports: [TokenSigningKeys],
})
export class OAuthModule {}
