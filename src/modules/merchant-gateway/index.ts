export { MerchantGatewayConfiguration } from './merchant-gateway.configuration.js';
export { MerchantGatewayModule } from './merchant-gateway.module.js';
export {
  checkMerchantGateway,
  MerchantGatewayService,
  type MerchantCredentials,
  type SignInOutcome,
  type SignInRequest,
} from './merchant-gateway.service.js';
export { UnlinkingService } from './unlinking.service.js';
