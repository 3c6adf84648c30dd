import type { PlatformEnvironment } from '../config/index.js';
import type { AttributedClient } from '../http/index.js';

/** The API client that a platform request is authenticated as. */
export interface AuthenticatedClient {
  readonly clientId: string;
  readonly organizationId: string;
  readonly environment: PlatformEnvironment;
  /** Operations that are disabled by default and enabled for this client. */
  readonly enabledOperations: ReadonlySet<string>;
}

export type CredentialCheck =
  | { readonly accepted: true; readonly client: AuthenticatedClient }
  /** `client` is set if the client exists, so that the failed request appears in its log. */
  | { readonly accepted: false; readonly client?: AttributedClient };

/** Port: verifies the credentials of API clients. */
export abstract class CredentialVerifier {
  /** Takes equally long for an unknown client and for a wrong secret. */
  abstract verify(clientId: string, secret: string): Promise<CredentialCheck>;
}
