import {
  EnumProperty,
  ObjectProperty,
  TextProperty,
  UuidProperty,
} from '../../../infrastructure/openapi/index.js';
import { ROLE, SCOPE, type DashboardRole, type Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { ENVIRONMENT } from '../../../infrastructure/validation/index.js';

export class CurrentTokenResponse {
  @UuidProperty('The client that the token was issued to.', '19b11f7c-4c8e-49bf-853e-3cea2462349f')
  client_id!: string;

  @EnumProperty(ENVIRONMENT, 'The environment that the token is valid for.', 'development')
  environment!: PlatformEnvironment;

  @EnumProperty(SCOPE, 'The scopes of the token.', ['request_logs:read'], { isArray: true })
  scopes!: Scope[];
}

export class CurrentUserResponse {
  @UuidProperty('ID of the user.', '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11')
  id!: string;

  @TextProperty('Name of the user.', 'Ada Lovelace')
  name!: string;

  @TextProperty('Email address of the user.', 'ada@example.com')
  email!: string;

  @UuidProperty('ID of the user’s organization.', '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60')
  organization_id!: string;

  @EnumProperty(ROLE, 'The current role of the user.', 'admin')
  role!: DashboardRole;

  @ObjectProperty(
    CurrentTokenResponse,
    'The access token; null if the request was authenticated by a dashboard login.',
    { nullable: true },
  )
  token!: CurrentTokenResponse | null;
}
