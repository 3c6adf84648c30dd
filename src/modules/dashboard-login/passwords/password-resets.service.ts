import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { rateLimitKeyOfAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR } from '../../../infrastructure/time/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { PasswordResetRequest } from './password-link.entity.js';
import { PasswordLinksService } from './password-links.service.js';

const RESETS_PER_RUN = 1_000;

/** Requests for new passwords, which anyone can send for any address. */
@Injectable()
export class PasswordResetsService {
  private readonly resetsOfAccount = this.limits.limit('reset-account', { attempts: 5, within: HOUR });
  private readonly resetsFromAddress = this.limits.limit('reset-address', { attempts: 20, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly links: PasswordLinksService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts and stores a request for a new password, whether or not the email has an account: requests could otherwise flood a
   * mailbox. `PasswordResetsJob` processes the request after the response.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async request(email: string, { ip }: RequestOrigin): Promise<void> {
    const attempts = [
      { limit: this.resetsOfAccount, subject: email, error: tooManyAttempts },
      { limit: this.resetsFromAddress, subject: rateLimitKeyOfAddress(ip), error: tooManyAttempts },
    ];
    const id = randomUUID();
    const emailSealed = this.sealer.seal(email, ['password_reset_request', id]);
    const createdAt = this.clock.now();
    await this.limits.attempt(attempts, () =>
      this.transaction.manager.insert(PasswordResetRequest, { id, emailSealed, createdAt }),
    );
  }

  /** Returns the oldest requests that have yet to be processed. */
  waiting(): Promise<PasswordResetRequest[]> {
    const order = { createdAt: 'ASC' } as const;
    return this.transaction.manager.find(PasswordResetRequest, { order, take: RESETS_PER_RUN });
  }

  /** Sends an email with a link, if the address has an account that may have a password. */
  @Transactional()
  async process(id: string): Promise<void> {
    const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
    const request = await this.transaction.manager.findOne(PasswordResetRequest, { where: { id }, lock });
    if (!request) return;
    await this.transaction.manager.delete(PasswordResetRequest, { id });
    const email = this.sealer.open(request.emailSealed, ['password_reset_request', id]);
    const user = await this.users.findWithPassword(email);
    if (user) await this.links.sendReset(user);
  }
}
