import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DEVICE_SCOPES, type Scope } from '../../../infrastructure/auth/index.js';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, type NewRow } from '../../../infrastructure/database/index.js';
import { PublicAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { publicClient, scopesIn } from '../protocol/oauth-form.js';
import { DeviceAuthorization } from './device-authorization.entity.js';
import type { DeviceCodeRequest, DeviceCodeResponse } from './device-authorizations.dto.js';
import { digestOfUserCode, formatUserCode, generateUserCode, ownerOfUserCode } from './user-code.js';

const LIFETIME = 10 * MINUTE;
/** Seconds. */
const FIRST_INTERVAL = 5;
const DEVICE_CODE_BYTES = 32;
/** Attempts to find a free user code. One collides with n pending device authorizations with a probability of n / (2.6 * 10^10). */
const ATTEMPTS = 3;

/** Pending device authorizations have different user codes. */
const USER_CODE_KEY = 'device_authorization_user_code_key';

/** Creates device authorizations (RFC 8628, sections 3.1 and 3.2). */
@Injectable()
export class DeviceAuthorizationsService {
  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly address: PublicAddress,
    private readonly configuration: OAuthConfiguration,
    private readonly clock: Clock,
  ) {}

  /** @throws OAuthError `invalid_client` */
  async request(request: DeviceCodeRequest, origin: RequestOrigin): Promise<DeviceCodeResponse> {
    const client = await publicClient(this.clients, request);
    const scopes = [...scopesIn(request.scope, DEVICE_SCOPES)];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const deviceCode = randomBytes(DEVICE_CODE_BYTES).toString('base64url');
      const userCode = generateUserCode();
      const row = this.rowFor(client, scopes, { deviceCode, userCode }, origin);
      if (await this.transaction.insertNew(DeviceAuthorization, row, USER_CODE_KEY))
        return this.responseFor(deviceCode, formatUserCode(userCode));
    }
    throw new Error(`No free user code in ${ATTEMPTS} attempts`);
  }

  private rowFor(
    client: ClientRecord,
    scopes: Scope[],
    codes: { readonly deviceCode: string; readonly userCode: string },
    origin: RequestOrigin,
  ): NewRow<DeviceAuthorization> {
    const id = randomUUID();
    const requestedAt = this.clock.now();
    return {
      id,
      ...client,
      deviceCodeHash: sha256(codes.deviceCode),
      userCodeDigest: digestOfUserCode(this.digest, codes.userCode),
      userCodeSealed: this.sealer.seal(codes.userCode, ownerOfUserCode(id)),
      scopes,
      status: 'pending',
      intervalSeconds: FIRST_INTERVAL,
      requestedAt,
      expiresAt: new Date(requestedAt.getTime() + LIFETIME),
      ...origin,
    };
  }

  private responseFor(deviceCode: string, userCode: string): DeviceCodeResponse {
    const verificationUri = `${this.address.of('dashboard')}/device`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: verificationUri,
      ...(this.configuration.verificationUriComplete && {
        verification_uri_complete: `${verificationUri}?user_code=${userCode}`,
      }),
      expires_in: LIFETIME / SECOND,
      interval: FIRST_INTERVAL,
    };
  }
}
