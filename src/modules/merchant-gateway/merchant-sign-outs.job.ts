import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';

/** Milliseconds between two requests to end the same sign-in. */
const REPEAT_AFTER = 45 * SECOND;
const SIGN_OUTS_PER_RUN = 20;

/** Asks the gateway to end sign-ins of unlinked accounts and replaced sign-ins, repeatedly until it confirms. */
@Injectable()
export class MerchantSignOutsJob implements OnApplicationShutdown {
  private readonly logger = new Logger('Merchant gateway');
  private running: Promise<void> | undefined;

  constructor(
    private readonly repository: MerchantSignOutsRepository,
    private readonly gateway: MerchantGatewayService,
    private readonly clock: Clock,
  ) {}

  @Interval(5 * SECOND)
  run(): Promise<void> {
    this.running ??= this.signOut()
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          this.logger.error('The merchant gateway could not be asked to end sign-ins', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private async signOut(): Promise<void> {
    const now = this.clock.now();
    const askedBefore = new Date(now.getTime() - REPEAT_AFTER);
    const signInIds = await this.repository.claim(askedBefore, now, SIGN_OUTS_PER_RUN);
    await Promise.all(
      signInIds.map(async (id) => {
        if (await this.gateway.undo(id)) await this.repository.remove(id);
      }),
    );
  }
}
