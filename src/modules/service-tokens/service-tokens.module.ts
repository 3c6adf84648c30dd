import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceToken } from './service-token.entity.js';
import { ServiceTokensService } from './service-tokens.service.js';
import { ServiceTokenVerifier } from './service-token-verifier.js';

@Module({
  imports: [TypeOrmModule.forFeature([ServiceToken])],
  providers: [ServiceTokensService, ServiceTokenVerifier],
  exports: [ServiceTokensService, ServiceTokenVerifier],
})
export class ServiceTokensModule {}
