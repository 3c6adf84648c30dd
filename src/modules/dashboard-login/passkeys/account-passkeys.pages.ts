import { Controller, Get, Post, StreamableFile } from '@nestjs/common';
import {
  INVALID_ACCESS_TOKEN,
  isRecentLogin,
  LOGIN_AGE,
  RECENT_LOGIN_REQUIRED,
  SECOND_FACTOR_REQUIRED,
  type DashboardActor,
} from '../../../infrastructure/auth/index.js';
import { NO_ACCESS, NOT_FOUND } from '../../../infrastructure/errors/index.js';
import {
  PageRoute,
  requestFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { TextField } from '../../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH, type Passkey } from './passkey.entity.js';
import { PASSKEYS_PATH, passkeyPage, passkeysPage } from './passkeys.pages.js';
import { PasskeysService } from './passkeys.service.js';

class PasskeyNameRequest {
  @TextField({ in: 'form', max: MAX_NAME_LENGTH })
  name!: string;
}

/**
 * The passkeys of the user. Adding and removing require a recent login: someone else at the user's browser could otherwise
 * add a passkey of their own.
 */
@Controller('account/passkeys')
export class PasskeysPage {
  constructor(
    private readonly passkeys: PasskeysService,
    private readonly clock: Clock,
  ) {}

  @Get()
  @PageRoute({ login: true, withoutSecondFactor: true })
  async list(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    return passkeysPage(await this.passkeys.list(actor.userId), this.passkeys.site.origin);
  }

  /** Returns the options that the script passes to the browser. */
  @Post('options')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async options(@Visit() { actor }: PageVisit): Promise<StreamableFile> {
    await this.requireLoginToAdd(actor);
    return optionsFile(await this.passkeys.optionsToAdd(actor));
  }

  @Post()
  @PageRoute({ login: true, withoutSecondFactor: true, form: true, recentLogin: LOGIN_AGE.sensitive })
  async add(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, form } = visit;
    await this.requireLoginToAdd(actor);
    return submitted(
      async () => {
        const { name } = requestFrom(PasskeyNameRequest, form);
        await this.passkeys.add(actor, name, form.get('credential'));
        return { redirectTo: `${PASSKEYS_PATH}?done=added` };
      },
      () => this.list(visit),
    );
  }

  @Get(':id')
  @PageRoute({ login: true })
  async show(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return passkeyPage(await this.find(visit));
  }

  @Post(':id/rename')
  @PageRoute({ login: true, form: true })
  async rename(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { actor, form } = visit;
    const passkey = await this.find(visit);
    return submitted(
      async () => {
        await this.passkeys.rename(actor, passkey, requestFrom(PasskeyNameRequest, form).name);
        return { redirectTo: `${PASSKEYS_PATH}?done=renamed` };
      },
      () => passkeyPage(passkey),
    );
  }

  @Post(':id/remove')
  @PageRoute({ login: true, form: true, recentLogin: LOGIN_AGE.sensitive })
  async remove(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    this.requireRecentLogin(visit.actor);
    await this.passkeys.remove(visit.actor, await this.find(visit));
    return { redirectTo: `${PASSKEYS_PATH}?done=removed` };
  }

  private async find({ actor, params: { id } }: PageVisit<'id'>): Promise<Passkey> {
    return NOT_FOUND.requireFound(await this.passkeys.find(actor, id));
  }

  private async requireLoginToAdd(actor: DashboardActor): Promise<void> {
    this.requireRecentLogin(actor);
    if (await this.passkeys.mustBeUsed(actor)) throw NO_ACCESS.error(SECOND_FACTOR_REQUIRED);
  }

  private requireRecentLogin(actor: DashboardActor): void {
    if (!isRecentLogin(actor, this.clock.now())) throw INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED);
  }
}

/** Returns the response to the script of the page, as JSON. */
export function optionsFile(options: object): StreamableFile {
  return new StreamableFile(Buffer.from(JSON.stringify(options)), { type: 'application/json' });
}
