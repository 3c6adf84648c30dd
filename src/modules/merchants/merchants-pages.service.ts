import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import type { PageResponse } from '../../infrastructure/pages/index.js';
import { matchKeys } from './match-key.js';
import { listPath, merchantsPage } from './merchants.pages.js';
import { MerchantsService } from './merchants.service.js';

const MERCHANTS_PER_PAGE = 50;

/** IDs that fit into the column. */
const MERCHANT_ID = /^[1-9]\d{0,8}$/;

/** The pages about merchants. */
@Injectable()
export class MerchantsPagesService {
  constructor(private readonly merchants: MerchantsService) {}

  /** @param query the filters `name` and `status`, and the ID of the last merchant before this page as `cursor` */
  async list(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    { name, status, cursor }: Readonly<Record<string, unknown>>,
  ): Promise<PageResponse> {
    const filters = {
      matchKeys: typeof name === 'string' && name.trim() ? matchKeys(name) : undefined,
      hidden: status === 'hidden' ? true : status === 'shown' ? false : undefined,
      after: typeof cursor === 'string' && MERCHANT_ID.test(cursor) ? Number(cursor) : undefined,
    };
    const merchants = await this.merchants.page(actor, environment, filters, MERCHANTS_PER_PAGE + 1);
    const shown = merchants.slice(0, MERCHANTS_PER_PAGE);
    const last = merchants.length > MERCHANTS_PER_PAGE ? shown.at(-1) : undefined;
    return merchantsPage(environment, shown, last ? String(last.id) : null);
  }

  async hide(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    const merchant = await this.merchants.hide(actor, id, environment);
    return { redirectTo: listPath(environment, form, 'hidden', merchant) };
  }

  async activate(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    const merchant = await this.merchants.activate(actor, id, environment);
    return { redirectTo: listPath(environment, form, 'shown', merchant) };
  }
}
