import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { SECOND } from '../../../infrastructure/time/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { UNSUPPORTED_GRANT_TYPE } from './oauth-errors.js';
import { ParameterField, type FormParameters } from './oauth-form.js';

/** How the clients of a grant authenticate (RFC 8414, section 2: `token_endpoint_auth_methods_supported`). */
const AUTHENTICATION_METHODS = {
  none: ['none'],
  secret: ['client_secret_basic', 'client_secret_post'],
} as const;

/**
 * A grant of a token endpoint: the check of the client that sends a request, the parameters that the grant reads, and the tokens that
 * it issues.
 */
export interface Grant<Sender, Client, Parameters extends object, Tokens> {
  readonly parameters: Type<Parameters>;
  /**
   * Returns the client of a request. Without this method, the sender is the client.
   *
   * @throws ApiError INVALID_FIELD for a missing parameter, or OAuthError
   */
  clientOf?(sender: Sender, form: FormParameters): Promise<Client> | Client;
  issue(client: Client, parameters: Parameters): Promise<Tokens>;
}

/** The class of a grant. The metadata of the authorization server and the errors of the token endpoint follow from the list of these. */
export interface GrantClass<Sender = never, Tokens = unknown> extends Type<
  Grant<Sender, unknown, object, Tokens>
> {
  readonly grantType: string;
  /** If clients have a secret, the guard of the token endpoint checks it before the grant does anything. */
  readonly authentication: keyof typeof AUTHENTICATION_METHODS;
}

/** Returns the `grant_types_supported` of metadata. */
export function grantTypesOf(grants: readonly GrantClass[]): string[] {
  return grants.map(({ grantType }) => grantType);
}

/** Returns the `token_endpoint_auth_methods_supported` of metadata. */
export function authenticationMethodsOf(grants: readonly GrantClass[]): string[] {
  return [...new Set(grants.flatMap(({ authentication }) => AUTHENTICATION_METHODS[authentication]))];
}

/** Returns the grant types whose clients authenticate. */
export function confidentialTypesIn(grants: readonly GrantClass[]): string[] {
  return grantTypesOf(grants.filter(({ authentication }) => authentication !== 'none'));
}

const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Returns the message about another grant type. It names the grants of public clients first. */
export function messageAboutGrantType(grants: readonly GrantClass[]): string {
  const confidential = confidentialTypesIn(grants);
  const others = grantTypesOf(grants).filter((type) => !confidential.includes(type));
  return `The grant type must be ${ALTERNATIVES.format([...others, ...confidential])}.`;
}

/** The parameter that every grant has. */
class TokenRequest {
  @ParameterField('The grant that reads the other parameters.', 'client_credentials')
  grant_type!: string;
}

/** A token endpoint (RFC 6749, section 3.2). Each module with such an endpoint provides this class beside its grants. */
@Injectable()
export class TokenEndpoint {
  constructor(private readonly module: ModuleRef) {}

  /**
   * Checks the grant type, the client and the parameters of the grant, in this order, and issues the tokens.
   *
   * @throws ApiError INVALID_FIELD for a missing parameter, or OAuthError
   */
  async exchange<Sender, Tokens>(
    grants: readonly GrantClass<Sender, Tokens>[],
    form: FormParameters,
    sender: Sender,
  ): Promise<Tokens> {
    const { grant_type: grantType } = validated(TokenRequest, form);
    const found = grants.find((each) => each.grantType === grantType);
    if (!found) throw UNSUPPORTED_GRANT_TYPE.error(messageAboutGrantType(grants));
    const grant = this.module.get<Grant<Sender, unknown, object, Tokens>>(found);
    const client = grant.clientOf ? await grant.clientOf(sender, form) : sender;
    return grant.issue(client, validated(grant.parameters, form));
  }
}

/**
 * Returns the body of a response with an access token (RFC 6749, section 5.1).
 *
 * @param lifetime milliseconds
 */
export function bearerToken(accessToken: string, lifetime: number, scopes: readonly string[]) {
  return {
    token_type: 'Bearer' as const,
    expires_in: Math.floor(lifetime / SECOND),
    access_token: accessToken,
    scope: scopes.join(' '),
  };
}
