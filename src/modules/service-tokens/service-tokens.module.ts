import { Module } from '@nestjs/common';
import { ServiceTokensService } from './service-tokens.service.js';
import { ServiceTokenVerifier } from './service-token-verifier.js';

@Module({
  providers: [ServiceTokensService, ServiceTokenVerifier],
  exports: [ServiceTokensService, ServiceTokenVerifier],
})
export class ServiceTokensModule {}
