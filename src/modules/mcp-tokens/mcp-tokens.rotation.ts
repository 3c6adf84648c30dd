import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DatabaseConfiguration, JobLock } from '../../infrastructure/database/index.js';
import { Clock, hourlyAt } from '../../infrastructure/time/index.js';
import { McpTokensRepository } from './mcp-tokens.repository.js';

/** Creates partitions in advance and drops those whose tokens have all expired. */
@Injectable()
export class McpTokensRotation implements OnApplicationBootstrap {
  private readonly logger = new Logger('McpTokens');

  constructor(
    private readonly repository: McpTokensRepository,
    private readonly lock: JobLock,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Until today's partition exists, tokens go to the default partition. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.database.rotateOnStart) return;
    await this.run().catch((error: unknown) =>
      this.logger.error('The partitions of MCP tokens could not be created', error),
    );
  }

  @Cron(hourlyAt(45))
  async run(): Promise<void> {
    await this.lock.runExclusively('mcp-tokens.rotation', () => this.repository.rotate(this.clock.now()));
  }
}
