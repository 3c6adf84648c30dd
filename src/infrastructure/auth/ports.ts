import type { AuditAction } from '../audit-catalog/index.js';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH } from '../errors/index.js';
import type { AttributedClient } from '../http/index.js';
import { fieldError, MESSAGES } from '../validation/index.js';
import type { DashboardActor } from './dashboard-actor.js';
import {
  isDashboardUser,
  type AuthenticatedClient,
  type DashboardIdentity,
  type RequestingOrganization,
} from './principals.js';

export const OTHER_ENVIRONMENT = 'The environment must be that of the client.';

export type CredentialCheck =
  | { readonly accepted: true; readonly client: AuthenticatedClient }
  /** `client` is set if the client exists, so that the failed request appears in its log, with the reason (`refusal`). */
  | { readonly accepted: false; readonly client?: AttributedClient; readonly refusal?: string | undefined };

/** Port (bound in `src/ports.module.ts`): verifies the credentials of API clients: secrets and API keys. */
export abstract class CredentialVerifier {
  /** Takes equally long for an unknown client, a wrong secret, and a key that is not accepted for whatever reason. */
  abstract verify(clientId: string, secret: string, request: Request): Promise<CredentialCheck>;
  /** Returns whose credentials they were when they were last accepted, for the log of a request that cannot be checked. */
  abstract lastAccepted(clientId: string, secret: string): AttributedClient | undefined;
}

/** Port (bound in `src/ports.module.ts`): verifies API keys and their access tokens that are sent as Bearer tokens. */
export abstract class KeyTokenVerifier {
  /** @returns undefined if it is neither, or not accepted */
  abstract clientOf(token: string, request: Request): Promise<AuthenticatedClient | undefined>;
}

/** Port (`src/ports.module.ts` passes an implementation to each strategy): verifies the tokens of a surface. */
export interface TokenVerifier<User> {
  /** @returns undefined when the token is malformed, unknown, revoked, or must not be used on this host or from this address */
  verify(token: string, request: Request): Promise<User | 'expired' | undefined>;
}

/** Port (bound in `src/ports.module.ts`): knows at which addresses of the agent connector agents can log in. */
export abstract class AgentLogins {
  /**
   * Returns the URL of the protected-resource metadata (RFC 9728) of the address of an API client.
   *
   * @returns undefined if agents cannot log in there
   */
  abstract metadataUrlOf(clientId: string): Promise<string | undefined>;
}

/** Port (bound in `src/ports.module.ts`): verifies logins in browsers. */
export abstract class DashboardSessionVerifier {
  /**
   * @param token the value of the session's cookie
   * @returns undefined when the login does not exist, has ended or expired, or its second factor is missing
   */
  abstract verify(token: string): Promise<DashboardIdentity | undefined>;
}

/** Port (bound in `src/ports.module.ts`): the API clients whose data a dashboard user may access. */
export abstract class AccessibleClients {
  /**
   * Returns the client whose data an operation or a page reads.
   *
   * @param environment may be absent for an API client, which belongs to one environment
   * @throws ApiError INVALID_FIELD if a dashboard user names no environment, or like `forEnvironment()`
   * @throws ApiError ENVIRONMENT_MISMATCH if the client or access token belongs to the other environment
   */
  async requested(
    requester: RequestingOrganization,
    environment?: PlatformEnvironment,
  ): Promise<AttributedClient> {
    if (isDashboardUser(requester)) {
      if (environment === undefined) throw fieldError({ field: 'environment', rule: MESSAGES.required });
      return this.forEnvironment(requester, environment);
    }
    if (environment !== undefined && environment !== requester.environment)
      throw ENVIRONMENT_MISMATCH.error(OTHER_ENVIRONMENT);
    return requester;
  }

  /**
   * Returns the client of the user's organization in an environment.
   *
   * @throws ApiError ENVIRONMENT_MISMATCH when the access token is for the other environment
   * @throws ApiError INVALID_FIELD when the organization has no client there, or this process does not serve it
   */
  abstract forEnvironment(
    actor: DashboardIdentity,
    environment: PlatformEnvironment,
  ): Promise<AttributedClient>;

  /** Returns the client of the access token, or all clients of the organization for a login. */
  abstract all(actor: DashboardIdentity): Promise<AttributedClient[]>;
}

/** The target of a denied request as far as its URL and credentials show it, because the body is not read. */
export interface DeniedTarget {
  /** The ID in the path; null if there is none. */
  readonly name: string | null;
  /** Undefined if nothing shows it. */
  readonly environment?: PlatformEnvironment;
}

/** Port (bound in `src/ports.module.ts`): records what the guards and pages observe, outside of transactions. */
export abstract class AuditRecorder {
  abstract recordDenial(actor: DashboardActor, action: AuditAction, target: DeniedTarget): Promise<void>;

  /**
   * Records that a user exported data.
   *
   * @param environment of the data; undefined if it belongs to the whole organization
   */
  abstract recordExport(
    actor: DashboardActor,
    action: AuditAction,
    environment: PlatformEnvironment | undefined,
  ): Promise<void>;
}
