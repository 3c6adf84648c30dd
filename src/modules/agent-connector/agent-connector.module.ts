import { Module } from '@nestjs/common';
import { DetectedAccountsModule } from '../detected-accounts/index.js';
import { MerchantStatusesModule } from '../merchant-statuses/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { AgentConnectorController } from './agent-connector.controller.js';
import { AgentConnectorService } from './agent-connector.service.js';
import { JsonRpcErrorFormat } from './json-rpc-error-format.js';
import { ToolCalls } from './tools/tool-calls.js';
import { Tools, TOOL_CLASSES } from './tools/tools.js';

@Module({
  imports: [DetectedAccountsModule, MerchantsModule, MerchantStatusesModule],
  controllers: [AgentConnectorController],
  providers: [AgentConnectorService, JsonRpcErrorFormat, ToolCalls, Tools, ...TOOL_CLASSES],
})
export class AgentConnectorModule {}
