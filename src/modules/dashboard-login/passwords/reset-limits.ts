import { Injectable } from '@nestjs/common';
import { AttemptLimitsRepository } from '../../../infrastructure/rate-limiting/index.js';
import { HOUR } from '../../../infrastructure/time/index.js';
import { AccountLimits } from '../account-limits.js';

/** Limits requests for password emails, which could otherwise flood a mailbox. */
@Injectable()
export class ResetLimits extends AccountLimits {
  constructor(limits: AttemptLimitsRepository) {
    super(limits, 'reset', { attempts: 5, within: HOUR }, { attempts: 20, within: HOUR });
  }
}
