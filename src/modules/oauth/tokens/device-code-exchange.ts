import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import {
  DevicePollsRepository,
  type PolledAuthorization,
} from '../authorizations/device-polls.repository.js';
import { OAuthClients } from '../protocol/oauth-clients.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_GRANT,
  SLOW_DOWN,
  UNSUPPORTED_GRANT_TYPE,
} from '../protocol/oauth-errors.js';
import { requireField } from '../protocol/oauth-form.js';
import { Redemption } from './redemption.js';
import { TOKEN_LIFETIME } from './key-schedule.js';
import type { AccessTokenResponse } from './tokens.dto.js';

/** RFC 8628, section 3.4. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Operation 2. The form is one, sent by a public client (`PublicForm`); then, in this order: the grant type,
 * the client, the code, and what has become of it. Only a code that waits is paced.
 */
@Injectable()
export class DeviceCodeExchange {
  constructor(
    private readonly clients: OAuthClients,
    private readonly polls: DevicePollsRepository,
    private readonly redemption: Redemption,
    private readonly clock: Clock,
  ) {}

  async exchange(form: FormFields): Promise<AccessTokenResponse> {
    requireDeviceCodeGrant(form);
    const { clientId } = await this.clients.namedIn(form);
    const deviceCodeHash = sha256(requireField(form, 'device_code'));
    for (;;) {
      const polled = await this.polls.poll({ deviceCodeHash, clientId, now: this.clock.now() });
      if (!polled) throw INVALID_GRANT.error();
      this.refuse(polled);
      const response = await this.redeem(polled);
      if (response) return response;
      // What was read is out of date: somebody redeemed it, or its time is over. That is for good.
    }
  }

  /** Everything but what is approved. */
  private refuse({ status, expiresAt, early, intervalSeconds }: PolledAuthorization): void {
    if (status === 'redeemed') throw INVALID_GRANT.error();
    if (status === 'denied') throw ACCESS_DENIED.error();
    if (expiresAt <= this.clock.now()) throw EXPIRED_TOKEN.error();
    if (status === 'approved') return;
    throw early ? SLOW_DOWN.withInterval(intervalSeconds ?? 0) : AUTHORIZATION_PENDING.error();
  }

  private async redeem(authorization: PolledAuthorization): Promise<AccessTokenResponse | undefined> {
    const outcome = await this.redemption.redeem(authorization);
    if (outcome === 'withdrawn') throw ACCESS_DENIED.error();
    if (outcome === 'not approved any more') return undefined;
    return { token_type: 'Bearer', expires_in: TOKEN_LIFETIME / SECOND, access_token: outcome.token };
  }
}

function requireDeviceCodeGrant(form: FormFields): void {
  if (requireField(form, 'grant_type') !== DEVICE_CODE_GRANT) throw UNSUPPORTED_GRANT_TYPE.error();
}
