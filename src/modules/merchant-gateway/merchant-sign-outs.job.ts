import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { OverdueWork, RecurringJob } from '../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';

/** Milliseconds between two requests to end the same sign-in. */
const REPEAT_AFTER = 45 * SECOND;
const SIGN_OUTS_PER_PAGE = 20;

/** Asks the gateway to end sign-ins, repeatedly until it confirms. A process without the gateway's settings leaves them to others. */
@Injectable()
export class MerchantSignOutsJob extends RecurringJob {
  constructor(
    private readonly repository: MerchantSignOutsRepository,
    private readonly gateway: MerchantGatewayService,
    private readonly clock: Clock,
    overdue: OverdueWork,
  ) {
    super('Merchant gateway', 'The merchant gateway could not be asked to end sign-ins');
    // Without a gateway, nothing waits for it.
    overdue.add('merchant_sign_outs', async () => (gateway.isConfigured ? repository.oldest() : null));
  }

  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      // If the gateway confirms nothing, the next run retries.
      while (this.gateway.isConfigured && !this.stopped.aborted && (await this.signOut()));
    });
  }

  /** @returns whether there may be more, and the gateway has confirmed something */
  private async signOut(): Promise<boolean> {
    const now = this.clock.now();
    const askedBefore = new Date(now.getTime() - REPEAT_AFTER);
    const signInIds = await this.repository.claim(askedBefore, now, SIGN_OUTS_PER_PAGE);
    const confirmed = await Promise.all(
      signInIds.map(async (id) => {
        const isConfirmed = await this.gateway.undo(id);
        if (isConfirmed) await this.repository.remove(id);
        return isConfirmed;
      }),
    );
    return signInIds.length === SIGN_OUTS_PER_PAGE && confirmed.includes(true);
  }
}
