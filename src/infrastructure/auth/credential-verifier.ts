import type { PlatformEnvironment } from '../config/index.js';
import type { AttributedClient } from '../http/index.js';

/** The API client on whose behalf a platform call is made. */
export interface AuthenticatedClient {
  readonly clientId: string;
  readonly organizationId: string;
  readonly environment: PlatformEnvironment;
  /** Operations that need an arrangement and that this client has one for. */
  readonly enabledOperations: ReadonlySet<string>;
}

export type CredentialCheck =
  | { readonly accepted: true; readonly client: AuthenticatedClient }
  /** `client` is set when the client exists, so that the failed call can be put into its log. */
  | { readonly accepted: false; readonly client?: AttributedClient };

/** Port: says whose Basic credentials these are. */
export abstract class CredentialVerifier {
  /** Takes as long for an unknown client as for a wrong secret. */
  abstract verify(clientId: string, secret: string): Promise<CredentialCheck>;
}
