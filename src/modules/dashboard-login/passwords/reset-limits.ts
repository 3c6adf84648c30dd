import { Injectable } from '@nestjs/common';
import { AttemptLimitsRepository } from '../../../infrastructure/rate-limiting/index.js';
import { HOUR } from '../../../infrastructure/time/index.js';
import { AccountLimits } from '../account-limits.js';

/** Nobody's mailbox is to be filled by others. */
@Injectable()
export class ResetLimits extends AccountLimits {
  constructor(limits: AttemptLimitsRepository) {
    super(limits, 'reset', { attempts: 5, within: HOUR }, { attempts: 20, within: HOUR });
  }
}
