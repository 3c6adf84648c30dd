import { Module } from '@nestjs/common';
import { IssuedTokens } from '../../infrastructure/issued-tokens/index.js';
import { ServiceTokensService } from './service-tokens.service.js';
import { ServiceTokenVerifier } from './service-token-verifier.js';
import './service-tokens.capability.js';

/** The credentials of the platform's own services. */
@Module({
  providers: [ServiceTokensService, ServiceTokenVerifier, IssuedTokens],
  exports: [ServiceTokensService, ServiceTokenVerifier],
})
export class ServiceTokensModule {}
