import { Injectable, StreamableFile } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';
import { LOGO_NOT_FOUND } from './organization-errors.js';
import type { OrganizationResponse, UpdateOrganizationRequest } from './organization.dto.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { BYTES, decodeBase64, mediaTypeOf } from './logo.js';

/** Operations of dashboard users on their own organization. */
@Injectable()
export class OrganizationAdministrationService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async get({ organizationId }: DashboardActor): Promise<OrganizationResponse> {
    const { id, name, activatedAt, logoMediaType, secondFactorRequiredFrom } =
      await this.repository.find(organizationId);
    return {
      organization_id: id,
      name,
      activated_at: activatedAt,
      has_logo: logoMediaType !== null,
      logo_media_type: logoMediaType,
      second_factor_required_from: secondFactorRequiredFrom,
    };
  }

  /** Changes nothing if the setting has this value already. */
  @Transactional()
  async update(
    actor: DashboardActor,
    { require_second_factor: isRequired, grace_period_days: days }: UpdateOrganizationRequest,
  ): Promise<OrganizationResponse> {
    const from = isRequired ? new Date(this.clock.milliseconds() + days * DAY) : null;
    const isChanged = await this.repository.requireSecondFactor(actor.organizationId, from);
    const organization = await this.get(actor);
    if (isChanged) await this.record('account.update', actor, organization);
    return organization;
  }

  /** Changes nothing if the organization is already active. */
  @Transactional()
  async activate(actor: DashboardActor): Promise<OrganizationResponse> {
    const isNew = await this.repository.activate(actor.organizationId, this.clock.now());
    const organization = await this.get(actor);
    if (isNew) await this.record('account.activate', actor, organization);
    return organization;
  }

  /** @param encoded base64 of an image of an allowed format */
  @Transactional()
  async updateLogo(actor: DashboardActor, encoded: string): Promise<OrganizationResponse> {
    const image = decodeBase64(encoded) ?? Buffer.alloc(0);
    const mediaType = mediaTypeOf(image);
    if (!mediaType) throw new Error('The image was not validated');
    await this.repository.storeLogo(actor.organizationId, { image, mediaType });
    const organization = await this.get(actor);
    await this.record('account.logo_update', actor, organization);
    return organization;
  }

  /** @param accepted the media type that the client prefers; `false` if it accepts none of those of logos */
  async logo({ organizationId }: DashboardActor, accepted: string | false): Promise<StreamableFile> {
    const logo = await this.repository.logo(organizationId);
    if (!logo) throw LOGO_NOT_FOUND.error();
    const type = accepted === BYTES ? BYTES : logo.mediaType;
    return new StreamableFile(logo.image, { type, length: logo.image.length });
  }

  private async record(
    action: AuditAction,
    actor: DashboardActor,
    { name }: OrganizationResponse,
  ): Promise<void> {
    await this.auditLog.record({ action, actor, target: { name } });
  }
}
