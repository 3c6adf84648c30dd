import { timeInUtc } from '../../../infrastructure/time/index.js';
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { DomainLogins, type MissingProof } from '../../allowlisted-domains/index.js';
import { AdministratorEmails } from '../../dashboard-users/index.js';
import { loginPath } from '../identity-provider.js';
import { SsoSettingsRepository } from './sso-settings.repository.js';

/** Says how users log in when a domain is no longer proved, and warns the administrators. Implements the port `DomainLogins`. */
@Injectable()
export class SsoDomainsService extends DomainLogins {
  constructor(
    private readonly settings: SsoSettingsRepository,
    private readonly emails: AdministratorEmails,
    private readonly publicAddress: PublicAddress,
  ) {
    super();
  }

  override async withoutProof(organizationId: string, domain: string): Promise<string> {
    const enabled = await this.settings.findEnabled(organizationId);
    const user = { id: randomUUID(), organizationId, role: 'viewer', isBreakGlass: false } as const;
    if (!enabled || !(await this.settings.appliesTo(user)))
      return `Users with email addresses in ${domain} then log in with their passwords.`;
    const base = this.publicAddress.find('dashboard') ?? '';
    return (
      `Your organization requires single sign-on, so users with email addresses in ${domain} can then no longer log in on the ` +
      `login page: their passwords do not work. Users who have used single sign-on before can log in at ${base}${loginPath(enabled)}. ` +
      'Break-glass owners can log in with their passwords.'
    );
  }

  override async announceMissing(proof: MissingProof): Promise<void> {
    const { id, organizationId, domain, since, endsAt } = proof;
    await this.emails.ensureSent(organizationId, `domain ${id} ${since.toISOString()}`, {
      subject: `The DNS record of ${domain} is missing`,
      body: [
        'The TXT record that proves the domain to be yours was not found. Add it again, or single sign-on stops for the domain.',
        { facts: { Domain: domain, 'Missing since': timeInUtc(since), 'Stops at': timeInUtc(endsAt) } },
        await this.withoutProof(organizationId, domain),
        ...this.publicAddress.dashboardLink(`/dashboard/allowed-domains/${id}/proof`, 'Show the record'),
      ],
    });
  }
}
