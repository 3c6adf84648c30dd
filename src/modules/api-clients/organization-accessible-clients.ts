import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  INVALID_ENVIRONMENT_MESSAGE,
  requireEnvironment,
  type DashboardIdentity,
} from '../../infrastructure/auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ApiClientDirectory } from './api-client-directory.js';

/** A logged-in user may use both clients of the organization; an access token only the one that it was issued for. */
@Injectable()
export class OrganizationAccessibleClients extends AccessibleClients {
  constructor(private readonly clients: ApiClientDirectory) {
    super();
  }

  async forEnvironment(
    actor: DashboardIdentity,
    environment: PlatformEnvironment,
  ): Promise<AttributedClient> {
    requireEnvironment(actor, environment);
    const { organizationId, credential } = actor;
    if (credential.kind === 'token') return credential;
    const client = await this.clients.ofOrganization(organizationId, environment);
    // The host of one environment does not know the clients of the other.
    if (!client) throw INVALID_FIELD.error(INVALID_ENVIRONMENT_MESSAGE);
    return client;
  }

  async all({ organizationId, credential }: DashboardIdentity): Promise<AttributedClient[]> {
    if (credential.kind === 'token') return [credential];
    const clients = await Promise.all(
      ENVIRONMENTS.map((environment) => this.clients.ofOrganization(organizationId, environment)),
    );
    return clients.filter((client) => client !== undefined);
  }
}
