import { randomUUID } from 'node:crypto';
import { Injectable, StreamableFile } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD, OperatorError } from '../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { MESSAGES, validateName } from '../../infrastructure/validation/index.js';
import { ApiClientsService, type IssuedCredentials } from '../api-clients/index.js';
import { AuditLog, changesBetween, type AuditAction } from '../audit-logs/index.js';
import { DashboardUsersService, type AddedDashboardUser } from '../dashboard-users/index.js';
import { LOGO_NOT_FOUND, MAX_LOGO_BYTES, mediaTypeOf } from './logo.js';
import type { UpdateOrganizationRequest } from './organization.dto.js';
import type { Organization } from './organization.entity.js';
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

const TOO_LARGE = `The image field must not be greater than ${MAX_LOGO_BYTES} bytes.`;
const NOT_AN_IMAGE = 'The image field must be a PNG, JPEG or WebP image.';

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

  get({ organizationId }: DashboardActor): Promise<Organization> {
    return this.repository.find(organizationId);
  }

  /**
   * Changes nothing if the setting has this value already.
   *
   * @param check throws if the organization, which is locked, is not as expected
   */
  @Transactional()
  async update(
    actor: DashboardActor,
    { required: isRequired, grace_period_days: days }: UpdateOrganizationRequest,
    check?: (current: Organization) => void,
  ): Promise<void> {
    await this.repository.lock(actor.organizationId);
    const before = await this.get(actor);
    check?.(before);
    const from = isRequired ? new Date(this.clock.milliseconds() + days * DAY) : null;
    const isChanged = await this.repository.requireSecondFactor(actor.organizationId, from);
    await this.recorded('account.update', actor, isChanged, before);
  }

  /** Changes nothing if the organization is already active. */
  @Transactional()
  async activate(actor: DashboardActor): Promise<void> {
    const isNew = await this.repository.activate(actor.organizationId, this.clock.now());
    await this.recorded('account.activate', actor, isNew);
  }

  /** @throws ApiError INVALID_FIELD if the image is too large, or has another format than `LOGO_MEDIA_TYPES` */
  @Transactional()
  async updateLogo(actor: DashboardActor, image: Buffer = Buffer.alloc(0)): Promise<void> {
    const mediaType = mediaTypeOf(image);
    if (image.length === 0) throw INVALID_FIELD.error(MESSAGES.required('image'));
    if (image.length > MAX_LOGO_BYTES) throw INVALID_FIELD.error(TOO_LARGE);
    if (!mediaType) throw INVALID_FIELD.error(NOT_AN_IMAGE);
    await this.repository.storeLogo(actor.organizationId, { image, mediaType });
    await this.recorded('account.logo_update', actor, true);
  }

  async hasLogo(id: string): Promise<boolean> {
    return (await this.repository.find(id)).logoMediaType !== null;
  }

  /** @throws ApiError NOT_FOUND */
  async logo({ organizationId }: Pick<DashboardActor, 'organizationId'>): Promise<StreamableFile> {
    const logo = await this.repository.logo(organizationId);
    if (!logo) throw LOGO_NOT_FOUND.error();
    return new StreamableFile(logo.image, { type: logo.mediaType, length: logo.image.length });
  }

  /** Records an action if it changed something. */
  private async recorded(
    action: AuditAction,
    actor: DashboardActor,
    isChanged: boolean,
    before?: Organization,
  ): Promise<void> {
    if (!isChanged) return;
    const organization = await this.get(actor);
    const changes = before ? changesBetween(auditedOf(before), auditedOf(organization)) : [];
    await this.auditLog.record({ action, actor, target: { name: organization.name }, changes });
  }
}

/** What the audit log shows of the settings. */
function auditedOf({ secondFactorRequiredFrom }: Organization) {
  return { second_factor_required_from: secondFactorRequiredFrom };
}
