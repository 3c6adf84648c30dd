import { Injectable } from '@nestjs/common';
import { AttemptLimitsRepository } from '../../../infrastructure/rate-limiting/index.js';
import { HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { AccountLimits } from '../account-limits.js';

@Injectable()
export class LoginLimits extends AccountLimits {
  constructor(limits: AttemptLimitsRepository) {
    super(limits, 'login', { attempts: 10, within: 15 * MINUTE }, { attempts: 50, within: HOUR });
  }
}
