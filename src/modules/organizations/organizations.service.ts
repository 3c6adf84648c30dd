import { randomUUID } from 'node:crypto';
import { Injectable, StreamableFile } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { validateName } from '../../infrastructure/validation/index.js';
import { ApiClientsService, type IssuedCredentials } from '../api-clients/index.js';
import { AuditLog, changesBetween, type AuditAction } from '../audit-logs/index.js';
import { DashboardUsersService, type AddedDashboardUser } from '../dashboard-users/index.js';
import { BYTES, decodeBase64, LOGO_NOT_FOUND, mediaTypeOf } from './logo.js';
import type { OrganizationResponse, UpdateOrganizationRequest } from './organization.dto.js';
import { OrganizationsRepository } from './organizations.repository.js';

export interface NewOrganization {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerName: string;
  /** A random password is generated if it is absent. */
  readonly ownerPassword?: string;
}

export interface CreatedOrganization {
  readonly id: string;
  readonly development: IssuedCredentials;
  readonly production: IssuedCredentials;
  readonly owner: AddedDashboardUser;
}

/** The customers of the platform. Operators create them, and dashboard users manage their own. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly apiClients: ApiClientsService,
    private readonly dashboardUsers: DashboardUsersService,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Creates the organization with an owner and one API client per environment. */
  @Transactional()
  async create(organization: NewOrganization): Promise<CreatedOrganization> {
    validateName('an organization', organization.name);
    const id = randomUUID();
    await this.repository.add({
      id,
      name: organization.name,
      createdAt: this.clock.now(),
      activatedAt: null,
      logo: null,
      logoMediaType: null,
      secondFactorRequiredFrom: null,
    });
    const development = await this.apiClients.create(id, 'development');
    const production = await this.apiClients.create(id, 'production');
    const owner = await this.dashboardUsers.add({
      organizationId: id,
      email: organization.ownerEmail,
      name: organization.ownerName,
      role: 'owner',
      ...(organization.ownerPassword === undefined ? {} : { password: organization.ownerPassword }),
    });
    return { id, development, production, owner };
  }

  /**
   * Creates the organization if there is none yet. If several processes start at once, one of them creates it.
   *
   * @param store called before the commit, so that its result exists whenever the organization does
   * @returns undefined when there is already an organization
   */
  @Transactional()
  async createFirst(
    organization: NewOrganization,
    store: (created: CreatedOrganization) => Promise<void>,
  ): Promise<CreatedOrganization | undefined> {
    if (!(await this.repository.lockIfEmpty())) return undefined;
    const created = await this.create(organization);
    await store(created);
    return created;
  }

  list(): ReturnType<OrganizationsRepository['all']> {
    return this.repository.all();
  }

  async nameOf(organizationId: string): Promise<string> {
    return (await this.repository.find(organizationId)).name;
  }

  /** @throws OperatorError when there is no such organization */
  async require(id: string): Promise<void> {
    if (!isUUID(id) || !(await this.repository.exists(id))) {
      throw new OperatorError(`There is no organization ${id}.`);
    }
  }

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

  /**
   * Changes nothing if the setting has this value already.
   *
   * @param check throws if the organization, which is locked, is not as expected
   */
  @Transactional()
  async update(
    actor: DashboardActor,
    { require_second_factor: isRequired, grace_period_days: days }: UpdateOrganizationRequest,
    check?: (current: OrganizationResponse) => void,
  ): Promise<OrganizationResponse> {
    await this.repository.lock(actor.organizationId);
    const before = await this.get(actor);
    check?.(before);
    const from = isRequired ? new Date(this.clock.milliseconds() + days * DAY) : null;
    const isChanged = await this.repository.requireSecondFactor(actor.organizationId, from);
    return this.recorded('account.update', actor, isChanged, before);
  }

  /** Changes nothing if the organization is already active. */
  @Transactional()
  async activate(actor: DashboardActor): Promise<OrganizationResponse> {
    const isNew = await this.repository.activate(actor.organizationId, this.clock.now());
    return this.recorded('account.activate', actor, isNew);
  }

  /** @param encoded base64 of an image of an allowed format */
  @Transactional()
  async updateLogo(actor: DashboardActor, encoded: string): Promise<OrganizationResponse> {
    const image = decodeBase64(encoded) ?? Buffer.alloc(0);
    const mediaType = mediaTypeOf(image);
    if (!mediaType) throw new Error('The image was not validated');
    await this.repository.storeLogo(actor.organizationId, { image, mediaType });
    return this.recorded('account.logo_update', actor, true);
  }

  async hasLogo(id: string): Promise<boolean> {
    return (await this.repository.find(id)).logoMediaType !== null;
  }

  /** @param accepted the media type that the client prefers; `false` if it accepts none of those of logos */
  async logo(
    { organizationId }: Pick<DashboardActor, 'organizationId'>,
    accepted: string | false,
  ): Promise<StreamableFile> {
    const logo = await this.repository.logo(organizationId);
    if (!logo) throw LOGO_NOT_FOUND.error();
    const type = accepted === BYTES ? BYTES : logo.mediaType;
    return new StreamableFile(logo.image, { type, length: logo.image.length });
  }

  /** Returns the organization after an action, which is recorded if it changed something. */
  private async recorded(
    action: AuditAction,
    actor: DashboardActor,
    isChanged: boolean,
    before?: OrganizationResponse,
  ): Promise<OrganizationResponse> {
    const organization = await this.get(actor);
    const changes = before ? changesBetween(auditedOf(before), auditedOf(organization)) : [];
    if (isChanged)
      await this.auditLog.record({ action, actor, target: { name: organization.name }, changes });
    return organization;
  }
}

/** What the audit log shows of the settings. */
function auditedOf({ second_factor_required_from }: OrganizationResponse) {
  return { second_factor_required_from };
}
