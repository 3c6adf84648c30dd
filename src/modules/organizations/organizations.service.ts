import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Transactional } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { validateName } from '../../infrastructure/validation/index.js';
import { ApiClientsService, type IssuedCredentials } from '../api-clients/index.js';
import { DashboardUsersService, type AddedDashboardUser } from '../dashboard-users/index.js';
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

/** The customers of the platform. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly apiClients: ApiClientsService,
    private readonly dashboardUsers: DashboardUsersService,
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

  /** Returns all organizations, for operators. */
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
}
