import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { McpToken } from './mcp-token.entity.js';
import { McpTokensBatch } from './mcp-tokens.batch.js';
import { McpTokensController } from './mcp-tokens.controller.js';
import { McpTokensRepository } from './mcp-tokens.repository.js';
import { McpTokensService } from './mcp-tokens.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([McpToken])],
  providers: [McpTokensService, McpTokensRepository, McpTokensBatch],
  exports: [McpTokensService],
})
export class McpTokensModule {}

/** Operation 1: only where the platform API is served. */
@Module({ imports: [McpTokensModule], controllers: [McpTokensController] })
export class McpTokenOperationsModule {}
