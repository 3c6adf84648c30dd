import { Injectable, StreamableFile } from '@nestjs/common';
import type { DashboardCaller } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';
import { LOGO_NOT_FOUND } from './account-errors.js';
import type { AccountResponse } from './account.dto.js';
import { AccountsRepository } from './accounts.repository.js';
import { decodeBase64, mediaTypeOf } from './logo.js';

/** What the owners and admins of an organization do about its account. */
@Injectable()
export class AccountService {
  constructor(
    private readonly repository: AccountsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async get({ organizationId }: DashboardCaller): Promise<AccountResponse> {
    const { id, name, activatedAt, logoMediaType } = await this.repository.account(organizationId);
    return {
      organization_id: id,
      name,
      activated_at: activatedAt,
      has_logo: logoMediaType !== null,
      logo_media_type: logoMediaType,
    };
  }

  /** Again, it changes nothing. */
  @Transactional()
  async activate(caller: DashboardCaller): Promise<AccountResponse> {
    const isNew = await this.repository.activate(caller.organizationId, this.clock.now());
    const account = await this.get(caller);
    if (isNew) await this.record('account.activate', caller, account);
    return account;
  }

  /** @param encoded base64 of one of the images that a logo may be */
  @Transactional()
  async updateLogo(caller: DashboardCaller, encoded: string): Promise<AccountResponse> {
    const image = decodeBase64(encoded) ?? Buffer.alloc(0);
    const mediaType = mediaTypeOf(image);
    if (!mediaType) throw new Error('The image was not validated');
    await this.repository.keepLogo(caller.organizationId, { image, mediaType });
    const account = await this.get(caller);
    await this.record('account.logo_update', caller, account);
    return account;
  }

  async logo({ organizationId }: DashboardCaller): Promise<StreamableFile> {
    const logo = await this.repository.logo(organizationId);
    if (!logo) throw LOGO_NOT_FOUND.error();
    return new StreamableFile(logo.image, { type: logo.mediaType, length: logo.image.length });
  }

  private async record(action: AuditAction, by: DashboardCaller, { name }: AccountResponse): Promise<void> {
    await this.auditLog.record({ action, by, target: { name } });
  }
}
