import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { JobLock, KeyedQueue } from '../../../infrastructure/database/index.js';
import { hourlyAt } from '../../../infrastructure/time/index.js';
import { SamlCertificatesService } from './saml-certificates.service.js';

const CONFIGURATIONS_PER_RUN = 1_000;
/** Providers that do not respond must not delay the others for hours. */
const CONCURRENT_REQUESTS = 20;

/** Fetches metadata again, and sends emails about certificates that expire. */
@Injectable()
export class SamlCertificatesJob {
  private readonly logger = new Logger('Single sign-on');
  private readonly requests = new KeyedQueue(CONCURRENT_REQUESTS);

  constructor(
    private readonly certificates: SamlCertificatesService,
    private readonly lock: JobLock,
  ) {}

  @Cron(hourlyAt(55))
  async run(): Promise<void> {
    await this.lock.runExclusively('saml-certificates', async () => {
      const due = await this.certificates.due(CONFIGURATIONS_PER_RUN);
      await Promise.all(
        due.map((configuration) =>
          this.requests.run('metadata', () =>
            this.attempt(configuration.id, () => this.certificates.refresh(configuration)),
          ),
        ),
      );
      for (const each of await this.certificates.expiring())
        await this.attempt(each.configuration.id, () => this.certificates.notify(each));
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
}
