import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  requireEnvironment,
  type DashboardIdentity,
} from '../../infrastructure/auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { fieldError, MESSAGES } from '../../infrastructure/validation/index.js';
import { ApiClientDirectory } from './api-client-directory.js';

/** A logged-in user may use both clients of the organization. An access token is for one client only. */
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
    // An access token or API key names its client.
    if (credential.kind !== 'session') return credential;
    const client = await this.clients.ofOrganization(organizationId, environment);
    if (client) return client;
    // The organization has no client there, or this process does not serve it.
    const others = ENVIRONMENTS.filter((each) => each !== environment);
    throw fieldError({ field: 'environment', rule: MESSAGES.selected, limit: others });
  }

  async all({ organizationId, credential }: DashboardIdentity): Promise<AttributedClient[]> {
    if (credential.kind !== 'session') return [credential];
    const clients = await Promise.all(
      ENVIRONMENTS.map((environment) => this.clients.ofOrganization(organizationId, environment)),
    );
    return clients.filter((client) => client !== undefined);
  }
}
