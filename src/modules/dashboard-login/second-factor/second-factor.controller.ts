import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, isRecentLogin, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import {
  passkeyRequiredPage,
  recoveryCodesPage,
  secondFactorSetupPage,
  secondFactorStatePage,
} from './second-factor.pages.js';
import { SecondFactorService } from './second-factor.service.js';

/**
 * Requires a recent login: someone else at the user's browser could otherwise enable a second factor and lock the user
 * out.
 */
const LOG_IN_AGAIN: PageResponse = { redirectTo: '/login?next=%2Faccount%2Fsecond-factor%2Fsetup' };
const STATE: PageResponse = { redirectTo: '/account/second-factor' };

@Controller('account/second-factor')
export class SecondFactorController {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly clock: Clock,
  ) {}

  @Get()
  @PageRoute({ login: true, withoutSecondFactor: true })
  async show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    if (await this.passkeys.mustBeUsed(actor)) return passkeyRequiredPage();
    const { userId, lacksSecondFactor } = actor;
    return secondFactorStatePage(await this.secondFactor.state(userId), { isRequired: lacksSecondFactor });
  }

  @Post('setup')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async prepare(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    if (await this.passkeys.mustBeUsed(actor)) return STATE;
    await this.secondFactor.prepare(actor);
    return { redirectTo: '/account/second-factor/setup' };
  }

  @Get('setup')
  @PageRoute({ login: true, withoutSecondFactor: true })
  showSetup(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.setup(actor);
  }

  @Post('enable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async enable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    if (await this.passkeys.mustBeUsed(actor)) return STATE;
    const codes = await this.secondFactor.enable(actor, form.get('code') ?? '');
    return codes ? recoveryCodesPage(codes, true) : this.setup(actor, true);
  }

  @Post('disable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async disable(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    if (await this.secondFactor.disable(actor, form.get('password_to_turn_off') ?? '')) return STATE;
    return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'turn off' });
  }

  @Post('recovery-codes')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async renewRecoveryCodes(
    @CurrentActor() actor: DashboardActor,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const codes = await this.secondFactor.renewRecoveryCodes(actor, form.get('password') ?? '');
    if (!codes)
      return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'renew' });
    return codes.length > 0 ? recoveryCodesPage(codes, false) : STATE;
  }

  private async setup(actor: DashboardActor, isWrong = false): Promise<PageResponse> {
    const setup = await this.secondFactor.prepared(actor);
    return setup ? secondFactorSetupPage(setup, isWrong) : STATE;
  }
}
