import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock, DAY, HOUR } from '../../../infrastructure/time/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { readCertificate } from '../saml/saml-metadata.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';

const EXPIRING = new GaugeMetric({
  name: 'mcs_saml_certificates_expiring',
  help: 'Certificates of enabled SAML configurations, theirs and ours, that expire within 30 days or have expired. Covers all processes: take the maximum, not the sum.',
});

/** The properties of a configuration whose certificate expires. */
type CertificateOwner = Pick<
  SsoConfiguration,
  'id' | 'organizationId' | 'name' | 'certificates' | 'expiryNotifiedAt'
>;

export interface ExpiringConfiguration {
  readonly configuration: CertificateOwner;
  readonly expiresAt: Date;
  readonly whose: 'the identity provider' | 'this service';
}

/** Knows the certificates of enabled SAML configurations that expire soon. */
@Injectable()
export class SamlCertificatesService {
  constructor(
    private readonly transaction: Transaction,
    private readonly keys: SamlKeysService,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    const cached = metrics.cached('SAML certificates', { load: () => this.expiring(), freshFor: HOUR });
    metrics.value(EXPIRING, async () => (await cached.read())?.length);
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
    const certificates = await this.keys.certificatesOfAll(enabled.map(({ id }) => id));
    for (const configuration of enabled) {
      const own = certificates.get(configuration.id) ?? [];
      const ends = [
        { whose: 'the identity provider', expiresAt: lastEnd(configuration.certificates) },
        { whose: 'this service', expiresAt: lastEnd(own) },
      ] as const;
      for (const { whose, expiresAt } of ends)
        if (expiresAt && expiresAt.getTime() < limit) found.push({ configuration, expiresAt, whose });
    }
    return found.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  }
}

function lastEnd(certificates: readonly string[]): Date | undefined {
  return certificates
    .flatMap((encoded) => readCertificate(encoded)?.validTo ?? [])
    .toSorted((a, b) => b.getTime() - a.getTime())[0];
}
