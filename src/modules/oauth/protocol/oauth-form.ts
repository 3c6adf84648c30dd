import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { Request, Response } from 'express';
import { readForm } from '../../../infrastructure/http/index.js';
import { Field } from '../../../infrastructure/validation/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { INVALID_CLIENT, INVALID_REQUEST, UNSUPPORTED_GRANT_TYPE } from './oauth-errors.js';

/**
 * The parameters of a form that are not empty (RFC 6749, section 3.1). The values of one that is repeated are an array, unless they
 * are equal. The DTOs of the endpoints and grants say which parameters are read; others are ignored, also repeated ones.
 */
export type FormParameters = Readonly<Record<string, string | string[]>>;

/**
 * Injects the form sent by a public client (RFC 8252, section 8.4). Credentials are rejected, because the client
 * probably called the wrong endpoint and should stop sending them. A client ID with an empty secret identifies a client like the
 * parameter `client_id` (RFC 6749, section 2.3.1).
 */
export const PublicForm = createParamDecorator(async (_data: unknown, context: ExecutionContext) => {
  const { authorization } = context.switchToHttp().getRequest<Request>().headers;
  if (authorization === undefined) return readOAuthForm(context);
  const id = clientIdIn(authorization);
  if (id === undefined) throw INVALID_REQUEST.error(CREDENTIALS);
  const { client_id: sent = id, ...form } = await readOAuthForm(context);
  if (sent !== id)
    throw INVALID_REQUEST.error('The Authorization header and the form name different clients.');
  return { ...form, client_id: id };
});

/** Returns the client ID of Basic credentials without a secret. */
function clientIdIn(authorization: string): string | undefined {
  const [, encoded = ''] = /^basic +([\w+/-]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, id] = /^([^:]+):$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  // Both parts are encoded like a form.
  return id === undefined
    ? undefined
    : (new URLSearchParams(`id=${id.replaceAll('&', '%26')}`).get('id') ?? undefined);
}

/** Injects the form sent by an authenticated client. */
export const ConfidentialForm = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  readOAuthForm(context),
);

async function readOAuthForm(context: ExecutionContext): Promise<FormParameters> {
  const http = context.switchToHttp();
  const form = await readForm(http.getRequest<Request>(), http.getResponse<Response>());
  return parametersIn(form.entries());
}

/** Returns the parameters by name: see `FormParameters`. */
export function parametersIn(entries: Iterable<readonly [name: string, value: string]>): FormParameters {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of entries)
    if (value !== '') values.set(name, (values.get(name) ?? new Set()).add(value));
  return Object.fromEntries(
    [...values].map(([name, [first = '', ...others]]) => [
      name,
      others.length === 0 ? first : [first, ...others],
    ]),
  );
}

/** Only a value that contradicts another one is an error. */
const REPEATED = 'A parameter of the form is given more than once.';
const CREDENTIALS = 'This endpoint takes no Authorization header.';

/** What can be wrong with the form of a public client, besides a missing parameter. */
export const PUBLIC_FORM_PROBLEMS = [
  REPEATED,
  CREDENTIALS,
  'The request body must be application/x-www-form-urlencoded.',
];

interface ParameterOptions {
  readonly required?: false;
  readonly const?: string;
  readonly format?: 'uuid';
}

/**
 * A parameter of a form: any text that is not empty, once (RFC 6749, section 3.2). What else can be wrong with it has an OAuth error of
 * its own.
 */
export function ParameterField(
  description: string,
  example: string,
  { required, ...schema }: ParameterOptions = {},
): PropertyDecorator {
  return Field(
    {
      in: 'form',
      keepsBlank: true,
      description,
      example,
      schema: { type: String, ...schema },
      ...(required === false && { required }),
    },
    IsString({ message: REPEATED }),
  );
}

/**
 * Returns the public client that a request names; it cannot authenticate (RFC 6749, section 3.2.1).
 *
 * @throws OAuthError `invalid_client` if there is no such client
 */
export async function publicClient(
  directory: ApiClientDirectory,
  { client_id: id }: { readonly client_id: string },
): Promise<ClientRecord> {
  return INVALID_CLIENT.unlessFound(await directory.find(id));
}

/**
 * Returns those of the allowed scopes that a `scope` parameter names, in their order. Others are ignored (RFC 6749, section 3.3): agents
 * ask for scopes of other servers, such as `offline_access`. All are returned if it names none of them.
 */
export function scopesIn<Name extends string>(
  text: string | undefined,
  allowed: readonly Name[],
): readonly Name[] {
  const names = new Set(text?.split(' '));
  const known = allowed.filter((scope) => names.has(scope));
  return known.length > 0 ? known : allowed;
}

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
