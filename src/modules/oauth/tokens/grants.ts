import type { Request } from 'express';
import type { GrantClass } from '../protocol/grant.js';
import { ClientCredentialsGrant } from './client-credentials.grant.js';
import { DeviceCodeGrant } from './device-code.grant.js';
import type { AccessTokenResponse } from './grants.dto.js';
import { JwtBearerGrant } from './jwt-bearer.grant.js';

/** The grants of `POST /oauth/token`. */
export const GRANTS: readonly GrantClass<Request, AccessTokenResponse>[] = [
  DeviceCodeGrant,
  ClientCredentialsGrant,
  JwtBearerGrant,
];
