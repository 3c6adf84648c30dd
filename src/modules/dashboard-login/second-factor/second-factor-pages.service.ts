import { Injectable } from '@nestjs/common';
import { isRecentLogin, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { recoveryCodesPage, secondFactorSetupPage, secondFactorStatePage } from './second-factor.pages.js';
import { SecondFactorService } from './second-factor.service.js';

/**
 * Requires a recent login: someone else at the user's browser could otherwise enable a second factor and lock the user
 * out.
 */
const LOG_IN_AGAIN: PageResponse = { redirectTo: '/login?next=%2Faccount%2Fsecond-factor%2Fsetup' };
const STATE: PageResponse = { redirectTo: '/account/second-factor' };

/** The pages to enable and disable the second factor. */
@Injectable()
export class SecondFactorPagesService {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly clock: Clock,
  ) {}

  async show({ userId, lacksSecondFactor }: DashboardActor): Promise<PageResponse> {
    return secondFactorStatePage(await this.secondFactor.state(userId), { isRequired: lacksSecondFactor });
  }

  async prepare(actor: DashboardActor): Promise<PageResponse> {
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    await this.secondFactor.prepare(actor);
    return { redirectTo: '/account/second-factor/setup' };
  }

  async showSetup(actor: DashboardActor): Promise<PageResponse> {
    const setup = await this.secondFactor.prepared(actor);
    return setup ? secondFactorSetupPage(setup) : STATE;
  }

  async enable(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    const codes = await this.secondFactor.enable(actor, form.get('code') ?? '');
    if (codes) return recoveryCodesPage(codes, true);
    const setup = await this.secondFactor.prepared(actor);
    return setup ? secondFactorSetupPage(setup, true) : STATE;
  }

  async disable(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    if (await this.secondFactor.disable(actor, form.get('password_to_turn_off') ?? '')) return STATE;
    return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'turn off' });
  }

  async renewRecoveryCodes(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    const codes = await this.secondFactor.renewRecoveryCodes(actor, form.get('password') ?? '');
    if (!codes)
      return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'renew' });
    return codes.length > 0 ? recoveryCodesPage(codes, false) : STATE;
  }
}
