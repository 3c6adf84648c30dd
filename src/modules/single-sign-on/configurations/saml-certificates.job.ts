import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { OutsideChecks, RecurringJob, Transaction } from '../../../infrastructure/database/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock, DAY, hourlyAt, timeInUtc } from '../../../infrastructure/time/index.js';
import { AdministratorEmails } from '../../dashboard-users/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { SamlMetadataReader } from '../saml/saml-metadata.js';
import { SamlCertificatesService, type ExpiringConfiguration } from './saml-certificates.service.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import { SsoConfigurationsService } from './sso-configurations.service.js';

/** Days before the end of a certificate on which the administrators get an email. */
const NOTICES = [7, 30] as const;
const METADATA = {
  table: 'saml_configuration',
  condition: 'enabled_at IS NOT NULL AND metadata_url IS NOT NULL',
  checkedAt: 'metadata_checked_at',
  attemptedAt: 'metadata_attempted_at',
  interval: DAY,
};

/**
 * Keeps the certificates of enabled SAML configurations up to date, and warns before they expire, and when a change has put the
 * requirement of single sign-on out of force.
 */
@Injectable()
export class SamlCertificatesJob extends RecurringJob {
  private readonly logger = new Logger('Single sign-on');

  constructor(
    private readonly certificates: SamlCertificatesService,
    private readonly transaction: Transaction,
    private readonly configurations: SsoConfigurationsService,
    private readonly reader: SamlMetadataReader,
    private readonly settings: SsoSettingsRepository,
    private readonly emails: AdministratorEmails,
    private readonly checks: OutsideChecks,
    private readonly publicAddress: PublicAddress,
    private readonly clock: Clock,
  ) {
    super('Single sign-on', 'Certificates could not be checked');
  }

  /** Fetches metadata that was not fetched for a day, and sends emails about certificates that expire and missing tests. */
  @Cron(hourlyAt(55))
  run(): Promise<void> {
    return this.startExclusively('saml-certificates', () => this.checkAll());
  }

  private async checkAll(): Promise<void> {
    await this.checks.run(METADATA, {
      check: (id) => this.refresh(id),
      report: (error) => this.report(error),
      stopped: this.stopped,
    });
    await this.forEach(await this.certificates.expiring(), (each) => this.notify(each));
    await this.forEach(await this.settings.notInForce(), (each) => this.announceMissingTest(each));
  }

  /**
   * Fetches the metadata again. Metadata that cannot be used, or of another provider, changes nothing: it is fetched again after an
   * hour, and the check is overdue after a day.
   */
  private async refresh(id: string): Promise<void> {
    const configuration = await this.transaction.manager.findOneBy(SsoConfiguration, { id });
    if (!configuration?.enabledAt || configuration.metadataUrl === null) return;
    const { organizationId, metadataUrl, entityId } = configuration;
    const read = await this.reader
      .read(organizationId, { metadata_url: metadataUrl })
      .catch((error: unknown) => {
        this.logger.warn(`The metadata of configuration ${id} cannot be used: ${(error as Error).message}`);
      });
    if (!read) return;
    if (read.entityId === entityId) await this.configurations.refresh(configuration, read);
    else this.logger.warn(`The metadata of configuration ${id} belongs to another provider`);
  }

  /** Sends an email 30 days and 7 days before a certificate expires. The run after it was sent notes this. */
  private async notify({ configuration, expiresAt, whose }: ExpiringConfiguration): Promise<void> {
    const { id, organizationId, name, expiryNotifiedAt } = configuration;
    const due = NOTICES.map((days) => expiresAt.getTime() - days * DAY).find(
      (time) => time <= this.clock.milliseconds(),
    );
    if (due === undefined || (expiryNotifiedAt && expiryNotifiedAt.getTime() >= due)) return;
    const sent = await this.emails.ensureSent(
      organizationId,
      `certificate ${id} ${new Date(due).toISOString()}`,
      {
        subject: 'A single sign-on certificate expires soon',
        body: [
          `A certificate of ${whose} for single sign-on expires soon. Replace it before then, or logins may fail.`,
          { facts: { 'Identity provider': name, 'Expires at': timeInUtc(expiresAt) } },
          whose === 'this service'
            ? 'Add a new certificate on the page of the identity provider, register it there, and then remove the older one.'
            : 'Add a new certificate at your identity provider. If you pasted the metadata, enter the new metadata on the page of the identity provider; if you entered a URL, the service fetches it.',
          ...this.linkTo(id),
        ],
      },
    );
    if (sent)
      await this.transaction.manager.update(SsoConfiguration, { id }, { expiryNotifiedAt: this.clock.now() });
  }

  /** Sends an email once for each change, and again each month: `ensureSent` knows emails for that long. */
  private async announceMissingTest({
    id,
    organizationId,
    name,
    revision,
  }: Pick<SsoConfiguration, 'id' | 'organizationId' | 'name' | 'revision'>): Promise<void> {
    await this.emails.ensureSent(organizationId, `untested ${id} ${revision}`, {
      subject: 'Single sign-on is not required at the moment',
      body: [
        'Your organization requires single sign-on, but no test login covers the last change of the identity provider. Until one succeeds, users can log in with their passwords.',
        { facts: { 'Identity provider': name } },
        'If you entered the URL of its metadata, the identity provider may have changed them itself.',
        ...this.linkTo(id),
      ],
    });
  }

  private linkTo(id: string) {
    return this.publicAddress.dashboardLink(`/dashboard/single-sign-on/${id}`, 'Open the identity provider');
  }
}
