import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { RATE_LIMIT_EXCEEDED } from '../../../infrastructure/errors/index.js';
import { FailedCredentials } from '../../../infrastructure/rate-limiting/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { AssertionsService } from '../../api-keys/index.js';
import { INVALID_GRANT } from '../protocol/oauth-errors.js';
import { publicClient, type FormParameters } from '../protocol/oauth-form.js';
import { ClientCredentialsGrant, scopesFor } from './client-credentials.grant.js';
import {
  AssertionRequest,
  KeyTokenRequest,
  type AccessTokenResponse,
  type TokenGrant,
} from './grants.dto.js';

/** Issues an access token for the API key that trusts the token of a workload (RFC 7523, section 2.1). */
@Injectable()
export class JwtBearerGrant implements TokenGrant<AuthenticatedClient, KeyTokenRequest> {
  static readonly grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  static readonly authentication = 'none';
  readonly parameters = KeyTokenRequest;

  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly assertions: AssertionsService,
    private readonly failures: FailedCredentials,
    private readonly clientCredentials: ClientCredentialsGrant,
  ) {}

  /**
   * @throws OAuthError `invalid_client`, `invalid_grant` for an assertion that no key accepts, or `invalid_scope` for a scope that the
   * key lacks; ApiError after too many refused assertions
   */
  async clientOf(request: Request, form: FormParameters): Promise<AuthenticatedClient> {
    const { assertion, ...named } = validated(AssertionRequest, form);
    // The parameters are checked before the assertion is used up: it is accepted only once.
    const parameters = validated(KeyTokenRequest, form);
    const client = await publicClient(this.clients, named);
    const authenticated = await this.assertions.authenticate(client, assertion, request, ({ key }) => {
      if (key) scopesFor(key, parameters);
    });
    if (authenticated) return authenticated;
    const excess = await this.failures.count(request, client.clientId);
    if (!excess) throw INVALID_GRANT.error('The assertion is not accepted.');
    throw RATE_LIMIT_EXCEEDED.error(undefined, excess);
  }

  issue(client: AuthenticatedClient, parameters: KeyTokenRequest): Promise<AccessTokenResponse> {
    return this.clientCredentials.issue(client, parameters);
  }
}
