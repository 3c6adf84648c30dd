import { Module } from '@nestjs/common';
import { MerchantGatewayService } from './merchant-gateway.service.js';

@Module({ providers: [MerchantGatewayService], exports: [MerchantGatewayService] })
export class MerchantGatewayModule {}
