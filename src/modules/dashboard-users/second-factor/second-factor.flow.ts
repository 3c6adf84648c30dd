import { Injectable } from '@nestjs/common';
import type { DashboardCaller } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageAnswer } from '../../../infrastructure/pages/index.js';
import { recoveryCodesPage, secondFactorSetupPage, secondFactorStatePage } from './second-factor.pages.js';
import { SecondFactor } from './second-factor.service.js';

const STATE: PageAnswer = { redirectTo: '/account/second-factor' };

/** Leads through the pages by which a user turns the second factor on and off. */
@Injectable()
export class SecondFactorFlow {
  constructor(private readonly secondFactor: SecondFactor) {}

  async show({ userId }: DashboardCaller): Promise<PageAnswer> {
    return secondFactorStatePage(await this.secondFactor.state(userId));
  }

  async prepare(caller: DashboardCaller): Promise<PageAnswer> {
    await this.secondFactor.prepare(caller);
    return { redirectTo: '/account/second-factor/setup' };
  }

  async showSetup(caller: DashboardCaller): Promise<PageAnswer> {
    const setup = await this.secondFactor.prepared(caller);
    return setup ? secondFactorSetupPage(setup) : STATE;
  }

  async enable(caller: DashboardCaller, form: FormFields): Promise<PageAnswer> {
    const codes = await this.secondFactor.enable(caller, form.get('code') ?? '');
    if (codes) return recoveryCodesPage(codes, true);
    const setup = await this.secondFactor.prepared(caller);
    return setup ? secondFactorSetupPage(setup, true) : STATE;
  }

  async disable(caller: DashboardCaller, form: FormFields): Promise<PageAnswer> {
    if (await this.secondFactor.disable(caller, form.get('password_to_turn_off') ?? '')) return STATE;
    return secondFactorStatePage(await this.secondFactor.state(caller.userId), 'turn off');
  }

  async renewRecoveryCodes(caller: DashboardCaller, form: FormFields): Promise<PageAnswer> {
    const codes = await this.secondFactor.renewRecoveryCodes(caller, form.get('password') ?? '');
    if (!codes) return secondFactorStatePage(await this.secondFactor.state(caller.userId), 'renew');
    return codes.length > 0 ? recoveryCodesPage(codes, false) : STATE;
  }
}
