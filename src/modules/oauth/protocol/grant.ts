import type { Type } from '@nestjs/common';
import { validated } from '../../../infrastructure/validation/index.js';
import { UNSUPPORTED_GRANT_TYPE } from './oauth-errors.js';
import type { FormParameters } from './oauth-form.js';

/** A grant of a token endpoint: the parameters that it reads, and what it does with them. */
export interface Grant<Client, Parameters, Tokens> {
  readonly grantType: string;
  readonly parameters: Type<Parameters>;
  handle(client: Client, parameters: Parameters): Promise<Tokens>;
}

/** A grant whose parameters are not known. */
interface AnyGrant<Client, Tokens> {
  readonly grantType: string;
  readonly parameters: Type<object>;
  handle(client: Client, parameters: never): Promise<Tokens>;
}

/**
 * Returns the grant that a form names. `redeem` checks its parameters and runs it.
 *
 * @throws OAuthError `unsupported_grant_type`
 */
export function grantOf<Client, Tokens>(
  grants: readonly AnyGrant<Client, Tokens>[],
  grantType: string,
): { redeem(client: Client, form: FormParameters): Promise<Tokens> } {
  const grant = grants.find((each) => each.grantType === grantType);
  if (!grant) {
    const supported = grants.map((each) => each.grantType).join(' or ');
    throw UNSUPPORTED_GRANT_TYPE.error(`The grant type must be ${supported}.`);
  }
  return {
    redeem: (client, form) => grant.handle(client, validated<object>(grant.parameters, form) as never),
  };
}
