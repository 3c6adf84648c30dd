import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { withErrorBody } from '../../infrastructure/http/index.js';
import { jsonRpcErrorOf } from '../../infrastructure/surfaces/index.js';
import { DetectedAccountsModule } from '../detected-accounts/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantStatusesModule } from '../merchant-statuses/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { SignInLinksModule } from '../sign-in-links/index.js';
import { AgentConnectorController } from './agent-connector.controller.js';
import { AgentConnectorService } from './agent-connector.service.js';
import type { ToolGroup } from './tools/tool.js';
import { ToolCalls } from './tools/tool-calls.js';
import { Tools, TOOL_CLASSES } from './tools/tool-registry.js';

const TOOLS = {
  provide: Tools,
  inject: TOOL_CLASSES,
  useFactory: (...groups: ToolGroup[]) => new Tools(groups.flatMap(({ tools }) => tools)),
};

/** The agent connector: `POST /mcp` and its tools. */
@Module({
  imports: [
    DetectedAccountsModule,
    MerchantAccountsModule,
    MerchantsModule,
    MerchantStatusesModule,
    SignInLinksModule,
  ],
  controllers: [AgentConnectorController],
  providers: [AgentConnectorService, ToolCalls, TOOLS, ...TOOL_CLASSES],
})
export class AgentConnectorModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(withErrorBody(jsonRpcErrorOf)).exclude('mcp/*path').forRoutes('mcp');
  }
}
