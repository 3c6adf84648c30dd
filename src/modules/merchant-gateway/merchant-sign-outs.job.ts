import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';

/** Milliseconds between two requests to end the same sign-in. */
const REPEAT_AFTER = 45 * SECOND;
const SIGN_OUTS_PER_RUN = 20;

/** Asks the gateway to end sign-ins, repeatedly until it confirms. */
@Injectable()
export class MerchantSignOutsJob extends RecurringJob {
  constructor(
    private readonly repository: MerchantSignOutsRepository,
    private readonly gateway: MerchantGatewayService,
    private readonly clock: Clock,
  ) {
    super('Merchant gateway', 'The merchant gateway could not be asked to end sign-ins');
  }

  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(() => this.signOut());
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
