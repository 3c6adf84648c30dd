import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { IsNull, LessThan, Not } from 'typeorm';
import { JobLock, KeyedQueue, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock, DAY, hourlyAt } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween, SYSTEM } from '../../audit-logs/index.js';
import { AdministratorEmails } from '../../dashboard-users/index.js';
import { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { auditedConfiguration } from '../configurations/sso-configurations.service.js';
import { readCertificate, SamlMetadataReader } from './saml-metadata.js';
import { SamlKeysService } from './saml-keys.service.js';

/** Days before the end of a certificate on which the administrators get an email. */
const NOTICES = [7, 30] as const;
const METADATA_LIFETIME = DAY;
const CONFIGURATIONS_PER_RUN = 1_000;
/** Providers that do not respond must not delay the others for hours. */
const CONCURRENT_REQUESTS = 20;

const EXPIRING = new GaugeMetric({
  name: 'mcs_saml_certificates_expiring',
  help: 'Certificates of enabled SAML configurations, theirs and ours, that expire within 30 days or have expired. Covers all processes: take the maximum, not the sum.',
});

/** What the service needs to know about a configuration whose certificate expires. */
type CertificateOwner = Pick<
  SsoConfiguration,
  'id' | 'organizationId' | 'name' | 'certificates' | 'expiryNotifiedAt'
>;

export interface ExpiringConfiguration {
  readonly configuration: CertificateOwner;
  readonly expiresAt: Date;
  readonly whose: 'the identity provider' | 'this service';
}

/** Keeps the certificates of enabled SAML configurations up to date, and warns before they expire. */
@Injectable()
export class SamlCertificatesService {
  private readonly logger = new Logger('Single sign-on');
  private readonly requests = new KeyedQueue(CONCURRENT_REQUESTS);

  constructor(
    private readonly transaction: Transaction,
    private readonly keys: SamlKeysService,
    private readonly reader: SamlMetadataReader,
    private readonly emails: AdministratorEmails,
    private readonly auditLog: AuditLog,
    private readonly lock: JobLock,
    private readonly publicAddress: PublicAddress,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    const cached = metrics.cached('SAML certificates', { load: () => this.expiring() });
    metrics.gauge(EXPIRING, async () => {
      const expiring = await cached.read();
      return expiring === undefined ? [] : [{ labels: {}, value: expiring.length }];
    });
  }

  /** Returns a certificate of each enabled configuration that expires within 30 days or has expired, the earliest first. */
  async expiring(): Promise<ExpiringConfiguration[]> {
    const limit = this.clock.milliseconds() + 30 * DAY;
    const found: ExpiringConfiguration[] = [];
    // Without their metadata, which may have 256 KiB each.
    const enabled: CertificateOwner[] = await this.transaction.manager.find(SsoConfiguration, {
      select: { id: true, organizationId: true, name: true, certificates: true, expiryNotifiedAt: true },
      where: { protocol: 'saml', enabledAt: Not(IsNull()) },
    });
    for (const configuration of enabled) {
      const own = await this.keys.certificatesOf(configuration.id);
      const ends = [
        { whose: 'the identity provider', expiresAt: lastEnd(configuration.certificates) },
        { whose: 'this service', expiresAt: lastEnd(own) },
      ] as const;
      for (const { whose, expiresAt } of ends)
        if (expiresAt && expiresAt.getTime() < limit) found.push({ configuration, expiresAt, whose });
    }
    return found.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  }

  /** Sends an email 30 days and 7 days before a certificate expires. The run after it was sent notes this. */
  private async notify({ configuration, expiresAt, whose }: ExpiringConfiguration): Promise<void> {
    const { id, organizationId, name, expiryNotifiedAt } = configuration;
    const due = NOTICES.map((days) => expiresAt.getTime() - days * DAY).find(
      (time) => time <= this.clock.milliseconds(),
    );
    if (due === undefined || (expiryNotifiedAt && expiryNotifiedAt.getTime() >= due)) return;
    const address = this.publicAddress.find('dashboard');
    const sent = await this.emails.ensureSent(
      organizationId,
      `certificate ${id} ${new Date(due).toISOString()}`,
      {
        subject: 'A single sign-on certificate expires soon',
        body: [
          `A certificate of ${whose} for single sign-on expires soon. Replace it before then, or logins may fail.`,
          { facts: { 'Identity provider': name, 'Expires at': expiresAt.toISOString() } },
          whose === 'this service'
            ? 'Add a new certificate on the page of the identity provider, register it there, and then remove the older one.'
            : 'Add a new certificate at your identity provider. If you pasted the metadata, enter the new metadata on the page of the identity provider; if you entered a URL, the service fetches it.',
          ...(address === undefined
            ? []
            : [{ link: `${address}/dashboard/single-sign-on/${id}`, label: 'Open the identity provider' }]),
        ],
      },
    );
    if (sent)
      await this.transaction.manager.update(SsoConfiguration, { id }, { expiryNotifiedAt: this.clock.now() });
  }

  /** Fetches metadata that was not fetched for a day, and sends emails about certificates that expire. */
  @Cron(hourlyAt(55))
  async run(): Promise<void> {
    await this.lock.runExclusively('saml-certificates', async () => {
      const checkedBefore = new Date(this.clock.milliseconds() - METADATA_LIFETIME);
      const due = await this.transaction.manager.find(SsoConfiguration, {
        where: {
          enabledAt: Not(IsNull()),
          metadataUrl: Not(IsNull()),
          metadataCheckedAt: LessThan(checkedBefore),
        },
        order: { metadataCheckedAt: 'ASC' },
        take: CONFIGURATIONS_PER_RUN,
      });
      const refresh = (each: SsoConfiguration) =>
        this.requests.run('metadata', () => this.attempt(each.id, () => this.refresh(each)));
      await Promise.all(due.map(refresh));
      for (const each of await this.expiring())
        await this.attempt(each.configuration.id, () => this.notify(each));
    });
  }

  /** A failure for one configuration must not affect the others. */
  private async attempt(id: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) =>
      this.logger.warn(
        `The certificates of configuration ${id} could not be checked: ${(error as Error).message}`,
      ),
    );
  }

  /** Fetches the metadata again. Metadata that cannot be used, or of another provider, changes nothing. */
  private async refresh(configuration: SsoConfiguration): Promise<void> {
    const { id, metadataUrl, entityId } = configuration;
    // Before the request, so that a provider that does not respond is asked once a day, too.
    await this.transaction.manager.update(SsoConfiguration, { id }, { metadataCheckedAt: this.clock.now() });
    const read = await this.reader.read({ metadata_url: metadataUrl ?? undefined });
    if (!read || read.entityId !== entityId) throw new Error('The metadata belongs to another provider');
    await this.store(configuration, read);
  }

  @Transactional()
  private async store({ id, metadataUrl }: SsoConfiguration, read: Partial<SsoConfiguration>): Promise<void> {
    const current = await this.transaction.lockRow(SsoConfiguration, { id });
    if (!current || current.metadataUrl !== metadataUrl || current.metadataXml === read.metadataXml) return;
    await this.transaction.manager.update(SsoConfiguration, { id }, read);
    const changes = changesBetween(
      auditedConfiguration(current),
      auditedConfiguration({ ...current, ...read }),
    );
    // Some providers send another ID or date each time.
    if (changes.length === 0) return;
    await this.auditLog.record({
      action: 'sso.update',
      actor: { organizationId: current.organizationId, ...SYSTEM },
      target: { name: current.name },
      changes,
    });
  }
}

function lastEnd(certificates: readonly string[]): Date | undefined {
  return certificates
    .flatMap((encoded) => readCertificate(encoded)?.validTo ?? [])
    .toSorted((a, b) => b.getTime() - a.getTime())[0];
}
