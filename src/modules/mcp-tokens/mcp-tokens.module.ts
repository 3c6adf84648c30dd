import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { McpTokenVerifier } from './mcp-token-verifier.js';
import { McpTokensBatch } from './mcp-tokens.batch.js';
import { McpTokensController } from './mcp-tokens.controller.js';
import { McpTokensRepository } from './mcp-tokens.repository.js';
import { McpTokensService } from './mcp-tokens.service.js';

/** Operation 1; tokens in one partition per day. */
@Module({
  imports: [ApiClientsModule],
  controllers: [McpTokensController],
  providers: [McpTokensService, McpTokenVerifier, McpTokensRepository, McpTokensBatch],
  exports: [McpTokensService, McpTokenVerifier, McpTokensRepository, McpTokensBatch],
})
export class McpTokensModule {}
