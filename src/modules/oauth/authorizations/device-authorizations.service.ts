import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SCOPES, type Scope } from '../../../infrastructure/auth/index.js';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { PublicAddress, type FormFields, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { OAuthClients } from '../protocol/oauth-clients.js';
import { INVALID_SCOPE } from '../protocol/oauth-errors.js';
import type { DeviceAuthorization } from './device-authorization.entity.js';
import type { DeviceCodeResponse } from './device-authorizations.dto.js';
import { DeviceAuthorizationsRepository } from './device-authorizations.repository.js';
import { generateUserCode, shownUserCode } from './user-code.js';

const LIFETIME = 10 * MINUTE;
/** Seconds. */
const FIRST_INTERVAL = 5;
const DEVICE_CODE_BYTES = 32;
/** One in 2.6 * 10^10 for each pending request: the second try is never needed, a third means something is broken. */
const ATTEMPTS = 3;

/** Devices that ask to be let in (RFC 8628, sections 3.1 and 3.2). */
@Injectable()
export class DeviceAuthorizationsService {
  constructor(
    private readonly clients: OAuthClients,
    private readonly repository: DeviceAuthorizationsRepository,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly address: PublicAddress,
    private readonly configuration: OAuthConfiguration,
    private readonly clock: Clock,
  ) {}

  async request(form: FormFields, origin: RequestOrigin): Promise<DeviceCodeResponse> {
    const client = await this.clients.namedIn(form);
    const scopes = scopesIn(form.get('scope'));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const deviceCode = randomBytes(DEVICE_CODE_BYTES).toString('base64url');
      const userCode = generateUserCode();
      const row = this.rowFor(client, scopes, { deviceCode, userCode }, origin);
      if (await this.repository.add(row)) return this.responseFor(deviceCode, shownUserCode(userCode));
    }
    throw new Error(`No free user code in ${ATTEMPTS} attempts`);
  }

  private rowFor(
    client: ClientRecord,
    scopes: Scope[],
    codes: { readonly deviceCode: string; readonly userCode: string },
    origin: RequestOrigin,
  ): DeviceAuthorization {
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
      userId: null,
      decidedAt: null,
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

/** What a user code is found by. */
export function digestOfUserCode(digest: SecretDigest, userCode: string): Buffer {
  return digest.of(`user code ${userCode}`);
}

/** What the sealed user code of a request is bound to. */
export function ownerOfUserCode(id: string): string[] {
  return ['device_authorization', id];
}

/** All scopes when none is asked for (RFC 6749, section 3.3), in the order of the catalogue. */
function scopesIn(text: string | undefined): Scope[] {
  const wanted = new Set(text?.split(' ').filter((scope) => scope !== ''));
  if (wanted.size === 0) return [...SCOPES];
  const known = SCOPES.filter((scope) => wanted.has(scope));
  if (known.length < wanted.size) throw INVALID_SCOPE.error();
  return known;
}
