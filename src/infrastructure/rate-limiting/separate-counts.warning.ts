import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../config/index.js';
import { ProcessCount, type CountedProcess } from '../database/index.js';
import { Redis } from '../redis/index.js';

/**
 * A process that counts rate limits by itself says so when it starts beside others that serve the same: each
 * of them allows the whole limit. Workers and commands refuse nobody, and are not counted.
 */
@Injectable()
export class SeparateCountsWarning implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('RateLimits');
  private counted: CountedProcess | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly processes: ProcessCount,
    private readonly service: ServiceConfiguration,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): void {
    if (this.redis.isConfigured || !this.adapterHost.httpAdapter) return;
    // By surface: no limit is for more than one.
    const activities = this.service.surfaces.map((surface) => `serves ${surface}`);
    this.counted = this.processes.join(activities, (processes) => this.warn(processes));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.counted?.close();
  }

  private warn(processes: number): void {
    if (processes < 2) return;
    this.logger.warn(
      `Rate limits are counted in each process: set REDIS_URL, or each of the ${processes} processes on this ` +
        'database allows the whole limit',
    );
  }
}
