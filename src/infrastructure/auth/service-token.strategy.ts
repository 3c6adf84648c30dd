import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';

/** The scopes of service tokens. */
export const SERVICE_SCOPES = ['events:publish', 'detections:write'] as const;
export type ServiceScope = (typeof SERVICE_SCOPES)[number];

/** One of the platform's own services. */
export interface AuthenticatedService {
  readonly scopes: ReadonlySet<string>;
}

/** Port: verifies service tokens. */
export abstract class ServiceTokenVerifier {
  /** @returns undefined when the token is unknown or revoked */
  abstract verify(token: string): Promise<AuthenticatedService | 'expired' | undefined>;
}

/** Verifies the service token that `ServiceTokenGuard` has read from the header. */
@Injectable()
export class ServiceTokenStrategy extends PassportStrategy(PassportBearerStrategy, 'service-token') {
  constructor(private readonly verifier: ServiceTokenVerifier) {
    super();
  }

  validate(token: string): Promise<AuthenticatedService | 'expired' | undefined> {
    return this.verifier.verify(token);
  }
}
