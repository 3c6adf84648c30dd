import type { Type } from '@nestjs/common';
import { UNSUPPORTED_GRANT_TYPE } from './oauth-errors.js';

/** A grant of a token endpoint: the parameters that it reads, and what it does with them. */
export interface Grant<Client, Parameters, Tokens> {
  readonly grantType: string;
  readonly parameters: Type<Parameters>;
  handle(client: Client, parameters: Parameters): Promise<Tokens>;
}

/**
 * Returns the grant that a form names.
 *
 * @throws OAuthError `unsupported_grant_type`
 */
export function grantOf<Client, Tokens>(
  grants: readonly Grant<Client, object, Tokens>[],
  grantType: string,
): Grant<Client, object, Tokens> {
  const grant = grants.find((each) => each.grantType === grantType);
  if (grant) return grant;
  const supported = grants.map((each) => each.grantType).join(' or ');
  throw UNSUPPORTED_GRANT_TYPE.error(`The grant type must be ${supported}.`);
}
