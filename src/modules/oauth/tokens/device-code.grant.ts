import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import { DeviceAuthorization } from '../authorizations/device-authorization.entity.js';
import { DevicePollsBatch } from '../authorizations/device-polls.batch.js';
import { type AuthorizationRow } from '../authorizations/device-authorizations.repository.js';
import { bearerToken } from '../protocol/grant.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_GRANT,
  SLOW_DOWN,
} from '../protocol/oauth-errors.js';
import { publicClient, type FormParameters } from '../protocol/oauth-form.js';
import { AccessTokensService } from './access-tokens.service.js';
import { TOKEN_LIFETIME } from '../access-token.js';
import {
  DEVICE_CODE,
  ExchangeDeviceCodeRequest,
  PublicClientTokenRequest,
  type AccessTokenResponse,
  type TokenGrant,
} from './grants.dto.js';

const ACCESS_ENDED = 'The access of the user who approved the request has ended. Request a new code.';

/** Exchanges a device code for an access token (specification, operation 2; RFC 8628, sections 3.4 and 3.5). */
@Injectable()
export class DeviceCodeGrant implements TokenGrant<ClientRecord, ExchangeDeviceCodeRequest> {
  static readonly grantType = DEVICE_CODE;
  static readonly authentication = 'none';
  readonly parameters = ExchangeDeviceCodeRequest;

  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly transaction: Transaction,
    private readonly batch: DevicePollsBatch,
    private readonly users: DashboardUsersService,
    private readonly tokens: AccessTokensService,
    private readonly clock: Clock,
  ) {}

  /** @throws OAuthError `invalid_client` */
  clientOf(_request: Request, form: FormParameters): Promise<ClientRecord> {
    return publicClient(this.clients, validated(PublicClientTokenRequest, form));
  }

  /**
   * Checks the code and its state, in this order, and issues the token.
   *
   * @throws OAuthError with a code of RFC 6749, section 5.2, for an invalid code, or of RFC 8628,
   * section 3.5, for the state of the device authorization
   */
  async issue(
    { clientId }: ClientRecord,
    { device_code: deviceCode }: ExchangeDeviceCodeRequest,
  ): Promise<AccessTokenResponse> {
    const deviceCodeHash = sha256(deviceCode);
    for (;;) {
      const now = this.clock.now();
      const authorization = await this.batch.polls.add({ deviceCodeHash, clientId, now });
      if (!authorization || authorization.status === 'redeemed') throw INVALID_GRANT.error();
      if (authorization.status === 'denied') throw ACCESS_DENIED.error();
      if (authorization.expiresAt <= this.clock.now()) throw EXPIRED_TOKEN.error();
      if (authorization.early) throw SLOW_DOWN.withInterval(authorization.intervalSeconds ?? 0);
      if (authorization.status === 'pending') throw AUTHORIZATION_PENDING.error();
      const user = await this.approverOf(authorization);
      if (!user) {
        const approved = { id: authorization.id, status: 'approved' as const };
        await this.transaction.manager.update(DeviceAuthorization, approved, { status: 'denied' });
        throw ACCESS_DENIED.error(ACCESS_ENDED);
      }
      // Sign before redeeming the code, so that the device can retry if signing fails.
      const token = await this.tokens.sign({ ...authorization, ...user, tokenId: authorization.id });
      if (await this.batch.redemptions.add({ id: authorization.id, now: this.clock.now() }))
        return bearerToken(token, TOKEN_LIFETIME, authorization.scopes);
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
