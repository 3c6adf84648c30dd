import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import { DevicePollsBatch } from '../authorizations/device-polls.batch.js';
import {
  DeviceAuthorizationsRepository,
  type AuthorizationRow,
} from '../authorizations/device-authorizations.repository.js';
import { OAuthClientsService } from '../protocol/oauth-clients.service.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_GRANT,
  SLOW_DOWN,
  UNSUPPORTED_GRANT_TYPE,
} from '../protocol/oauth-errors.js';
import { requireField } from '../protocol/oauth-form.js';
import { AccessTokensService } from './access-tokens.service.js';
import { TOKEN_LIFETIME } from './key-schedule.js';
import type { AccessTokenResponse } from './tokens.dto.js';

/** RFC 8628, section 3.4. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Exchanges a device code for an access token (specification, operation 2; RFC 8628, sections 3.4 and 3.5). */
@Injectable()
export class DeviceCodeGrant {
  constructor(
    private readonly clients: OAuthClientsService,
    private readonly authorizations: DeviceAuthorizationsRepository,
    private readonly batch: DevicePollsBatch,
    private readonly users: DashboardUsersService,
    private readonly tokens: AccessTokensService,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks the grant type, the client, the code and its state, in this order, and issues the token.
   *
   * @throws OAuthError with a code of RFC 6749, section 5.2, for an invalid request, client or code, or of RFC 8628,
   * section 3.5, for the state of the device authorization
   */
  async exchange(form: FormFields): Promise<AccessTokenResponse> {
    if (requireField(form, 'grant_type') !== DEVICE_CODE_GRANT) throw UNSUPPORTED_GRANT_TYPE.error();
    const { clientId } = await this.clients.identify(form);
    const deviceCodeHash = sha256(requireField(form, 'device_code'));
    for (;;) {
      const now = this.clock.now();
      const authorization = await this.batch.poll({ deviceCodeHash, clientId, now });
      if (!authorization || authorization.status === 'redeemed') throw INVALID_GRANT.error();
      if (authorization.status === 'denied') throw ACCESS_DENIED.error();
      if (authorization.expiresAt <= this.clock.now()) throw EXPIRED_TOKEN.error();
      if (authorization.early) throw SLOW_DOWN.withInterval(authorization.intervalSeconds ?? 0);
      if (authorization.status === 'pending') throw AUTHORIZATION_PENDING.error();
      const user = await this.approverOf(authorization);
      if (!user) {
        await this.authorizations.withdraw(authorization.id);
        throw ACCESS_DENIED.error();
      }
      // Sign before redeeming the code, so that the device can retry if signing fails.
      const token = await this.tokens.sign({ ...authorization, ...user, tokenId: authorization.id });
      if (await this.batch.redeem(authorization.id, this.clock.now())) {
        return { token_type: 'Bearer', expires_in: TOKEN_LIFETIME / SECOND, access_token: token };
      }
      // Another request redeemed or withdrew the code, or it expired: read its final state in the next pass.
    }
  }

  /**
   * Returns the user who approved the device authorization, if still active and in the client's organization, and if
   * the user's access has not ended since.
   */
  private async approverOf({
    userId,
    organizationId,
    accessVersion,
  }: AuthorizationRow): Promise<DashboardPrincipal | undefined> {
    const user = userId === null ? undefined : await this.users.principal(userId);
    return user?.organizationId === organizationId && user.accessVersion === (accessVersion ?? 0)
      ? user
      : undefined;
  }
}
