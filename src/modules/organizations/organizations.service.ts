import { randomUUID } from 'node:crypto';
import { Injectable, StreamableFile } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, Not, Or } from 'typeorm';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { fieldError, MESSAGES, validateName } from '../../infrastructure/validation/index.js';
import { ApiClientsService, type IssuedCredentials } from '../api-clients/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { AuditLog, changesBetween } from '../audit-logs/index.js';
import {
  DashboardUsersService,
  type AddedDashboardUser,
  type PreparedDashboardUser,
} from '../dashboard-users/index.js';
import { MAX_LOGO_BYTES, mediaTypeOf } from './logo.js';
import { LOGO_NOT_FOUND } from './organizations-errors.js';
import { Organization } from './organization.entity.js';
import type { UpdateOrganizationRequest } from './organization.dto.js';

export interface NewOrganization {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerName: string;
  /** A random password is generated if it is absent. */
  readonly ownerPassword?: string;
  /** Milliseconds after which a generated password expires, unless the owner replaces it. */
  readonly passwordLifetime?: number;
}

/** An organization that can be created. */
export interface PreparedOrganization {
  readonly id: string;
  readonly name: string;
  readonly owner: PreparedDashboardUser;
}

export interface CreatedOrganization {
  readonly id: string;
  readonly development: IssuedCredentials;
  readonly production: IssuedCredentials;
  readonly owner: AddedDashboardUser;
}

const notAnImage = (field: string): string => `The ${field} field must be a PNG, JPEG or WebP image.`;

/** The customers of the platform. Operators create them, and dashboard users manage their own. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly apiClients: ApiClientsService,
    private readonly dashboardUsers: DashboardUsersService,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Checks a new organization and its owner. Call it before the transaction, because it hashes the owner's password. */
  async prepare(organization: NewOrganization): Promise<PreparedOrganization> {
    const { name, ownerEmail: email, ownerName, ownerPassword: password, passwordLifetime } = organization;
    validateName('an organization', name);
    const id = randomUUID();
    const user = {
      organizationId: id,
      email,
      name: ownerName,
      role: 'owner',
      password,
      passwordLifetime,
    } as const;
    return { id, name, owner: await this.dashboardUsers.prepare(user, name) };
  }

  /** Creates the organization with an owner and one API client per environment. */
  @Transactional()
  async create({ id, name, owner }: PreparedOrganization): Promise<CreatedOrganization> {
    await this.transaction.manager.insert(Organization, { id, name, createdAt: this.clock.now() });
    const development = await this.apiClients.create(id, 'development');
    const production = await this.apiClients.create(id, 'production');
    return { id, development, production, owner: await this.dashboardUsers.add(owner) };
  }

  /**
   * Creates the organization if there is none yet. If several processes start at once, one of them creates it.
   *
   * @param store called before the commit, so that its result exists whenever the organization does
   * @returns undefined when there is already an organization
   */
  async createFirst(
    organization: NewOrganization,
    store: (created: CreatedOrganization) => Promise<void>,
  ): Promise<CreatedOrganization | undefined> {
    if ((await this.transaction.manager.count(Organization)) > 0) return undefined;
    return this.createIfNone(await this.prepare(organization), store);
  }

  @Transactional()
  private async createIfNone(
    organization: PreparedOrganization,
    store: (created: CreatedOrganization) => Promise<void>,
  ): Promise<CreatedOrganization | undefined> {
    await this.transaction.lockTable(Organization);
    if ((await this.transaction.manager.count(Organization)) > 0) return undefined;
    const created = await this.create(organization);
    await store(created);
    return created;
  }

  /** Returns all organizations without their logos, in the order in which they were created. */
  list(): Promise<Pick<Organization, 'id' | 'name' | 'createdAt' | 'activatedAt'>[]> {
    return this.transaction.manager.find(Organization, {
      select: { id: true, name: true, createdAt: true, activatedAt: true },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async nameOf(organizationId: string): Promise<string> {
    return (await this.find(organizationId)).name;
  }

  /** @throws OperatorError when there is no such organization */
  async requireForOperator(id: string): Promise<void> {
    if (!isUUID(id) || !(await this.transaction.manager.existsBy(Organization, { id }))) {
      throw new OperatorError(`There is no organization ${id}.`);
    }
  }

  get({ organizationId }: DashboardActor): Promise<Organization> {
    return this.find(organizationId);
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
    const { organizationId: id } = actor;
    await this.transaction.lock(`organization:${id}`);
    const before = await this.get(actor);
    check?.(before);
    const from = isRequired ? new Date(this.clock.milliseconds() + days * DAY) : null;
    const other = { id, secondFactorRequiredFrom: from ? IsNull() : Not(IsNull()) };
    const isChanged = await this.transaction.updateRow(Organization, other, {
      secondFactorRequiredFrom: from,
    });
    await this.recorded('account.update', actor, isChanged, before);
  }

  /** Changes nothing if the organization is already active. */
  @Transactional()
  async activate(actor: DashboardActor): Promise<void> {
    const inactive = { id: actor.organizationId, activatedAt: IsNull() };
    const isNew = await this.transaction.updateRow(Organization, inactive, { activatedAt: this.clock.now() });
    await this.recorded('account.activate', actor, isNew);
  }

  /** @throws ApiError INVALID_FIELD if the image is too large, or has another format than `LOGO_MEDIA_TYPES` */
  @Transactional()
  async updateLogo(actor: DashboardActor, image: Buffer = Buffer.alloc(0)): Promise<void> {
    const mediaType = mediaTypeOf(image);
    if (image.length === 0) throw fieldError({ field: 'image', rule: MESSAGES.required });
    if (image.length > MAX_LOGO_BYTES)
      throw fieldError({ field: 'image', rule: MESSAGES.maxBytes, limit: MAX_LOGO_BYTES });
    if (!mediaType) throw fieldError({ field: 'image', rule: notAnImage });
    const changes = { logo: image, logoMediaType: mediaType };
    const other = { id: actor.organizationId, logo: Or(IsNull(), Not(image)) };
    const isChanged = await this.transaction.updateRow(Organization, other, changes);
    await this.recorded('account.logo_update', actor, isChanged);
  }

  async hasLogo(id: string): Promise<boolean> {
    return (await this.find(id)).logoMediaType !== null;
  }

  /** @throws ApiError NOT_FOUND */
  async logo({ organizationId }: Pick<DashboardActor, 'organizationId'>): Promise<StreamableFile> {
    const found = await this.transaction.manager.findOne(Organization, {
      select: { id: true, logo: true, logoMediaType: true },
      where: { id: organizationId },
    });
    if (!found?.logo || !found.logoMediaType) throw LOGO_NOT_FOUND.error();
    return new StreamableFile(found.logo, { type: found.logoMediaType, length: found.logo.length });
  }

  private find(id: string): Promise<Organization> {
    return this.transaction.manager.findOneByOrFail(Organization, { id });
  }

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

/** Returns the settings that the audit log shows. */
function auditedOf({ secondFactorRequiredFrom }: Organization) {
  return { second_factor_required_from: secondFactorRequiredFrom };
}
