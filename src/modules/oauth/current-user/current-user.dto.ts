import { ApiProperty } from '@nestjs/swagger';
import {
  DASHBOARD_ROLES,
  SCOPES,
  type DashboardRole,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../../infrastructure/config/index.js';

export class CurrentTokenResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The client that the token was issued to.',
    example: '19b11f7c-4c8e-49bf-853e-3cea2462349f',
  })
  client_id!: string;

  @ApiProperty({
    enum: ENVIRONMENTS,
    description: 'The environment that the token is valid for.',
    example: 'development',
  })
  environment!: PlatformEnvironment;

  @ApiProperty({
    enum: SCOPES,
    isArray: true,
    description: 'The scopes of the token.',
    example: ['request_logs:read'],
  })
  scopes!: Scope[];
}

export class CurrentUserResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the user.',
    example: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  })
  id!: string;

  @ApiProperty({ type: String, description: 'Name of the user.', example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({ type: String, description: 'Email address of the user.', example: 'ada@example.com' })
  email!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the user’s organization.',
    example: '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60',
  })
  organization_id!: string;

  @ApiProperty({ enum: DASHBOARD_ROLES, description: 'The current role of the user.', example: 'admin' })
  role!: DashboardRole;

  @ApiProperty({
    type: CurrentTokenResponse,
    nullable: true,
    description: 'The access token; null if the request was authenticated by a dashboard login.',
  })
  token!: CurrentTokenResponse | null;
}

export const EXAMPLE_CURRENT_USER = {
  id: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  organization_id: '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60',
  role: 'admin',
  token: {
    client_id: '19b11f7c-4c8e-49bf-853e-3cea2462349f',
    environment: 'development',
    scopes: ['request_logs:read'],
  },
};
