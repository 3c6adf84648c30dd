import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { Request } from 'express';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { Field } from '../../../infrastructure/validation/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { INVALID_CLIENT, INVALID_REQUEST } from './oauth-errors.js';

/**
 * The parameters of a form that are not empty (RFC 6749, section 3.1). The values of one that is repeated are an array, unless they
 * are equal. The DTOs of the endpoints and grants say which parameters are read; others are ignored, also repeated ones.
 */
export type FormParameters = Readonly<Record<string, string | string[]>>;

/**
 * Injects the form sent by an agent, which is a public client, or by any client that has a token to revoke, which is credential enough.
 * Some send a secret, in the form or as Basic credentials: it is ignored in both. The client ID of Basic credentials identifies a client
 * that names none in the form.
 */
export const AgentForm = createParamDecorator((_data: unknown, context: ExecutionContext): FormParameters => {
  const { authorization = '' } = context.switchToHttp().getRequest<Request>().headers;
  const form = formIn(context);
  const id = form['client_id'] ?? clientIdIn(authorization, WITH_SECRET);
  return id === undefined ? form : { ...form, client_id: id };
});

/**
 * Injects the form sent by a device (RFC 8252, section 8.4). Credentials are rejected, because the client probably
 * called the wrong endpoint and should stop sending them: API clients have a secret. A client ID with an empty secret identifies a
 * client like the parameter `client_id` (RFC 6749, section 2.3.1).
 */
export const PublicForm = createParamDecorator(
  (_data: unknown, context: ExecutionContext): FormParameters => {
    const { headers, user } = context.switchToHttp().getRequest<Request>();
    const { authorization } = headers;
    // A guard has authenticated an API client.
    if (authorization === undefined || user) return formIn(context);
    const id = clientIdIn(authorization, WITHOUT_SECRET);
    if (id === undefined) throw INVALID_REQUEST.error(CREDENTIALS);
    const { client_id: sent = id, ...form } = formIn(context);
    if (sent !== id)
      throw INVALID_REQUEST.error('The Authorization header and the form name different clients.');
    return { ...form, client_id: id };
  },
);

const WITHOUT_SECRET = /^([^:]+):$/;
/** Some agents do not encode the URL that is their client ID. */
const WITH_SECRET = /^((?:https:\/\/)?[^:]+):/;

/** Returns the client ID of Basic credentials of this form. */
function clientIdIn(authorization: string, credentials: RegExp): string | undefined {
  const [, encoded = ''] = /^basic +([\w+/-]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, id] = credentials.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  // Both parts are encoded like a form.
  return id === undefined
    ? undefined
    : (new URLSearchParams(`id=${id.replaceAll('&', '%26')}`).get('id') ?? undefined);
}

/** Injects the form sent by an authenticated client. */
export const ConfidentialForm = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  formIn(context),
);

/** `FormBodyGuard` has read the form. */
function formIn(context: ExecutionContext): FormParameters {
  return parametersIn((context.switchToHttp().getRequest<Request>().body as FormFields).entries());
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
const CREDENTIALS = 'This request takes no Authorization header.';

/** The problems of a form of a public client, besides a missing parameter. */
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
  return INVALID_CLIENT.requireFound(await directory.find(id));
}

/**
 * Returns the names of a `scope` parameter, which spaces separate (RFC 6749, section 3.3). Clients that separate them by commas would
 * otherwise name none, and so get more than they asked for.
 */
export function scopeNamesIn(text: string): string[] {
  return text.split(/[ ,]+/).filter(Boolean);
}

/**
 * Returns those of the allowed scopes that a `scope` parameter names, in their order. Others are ignored (RFC 6749, section 3.3): agents
 * ask for scopes of other servers, such as `offline_access`. All are returned if it names none of them.
 */
export function scopesIn<Name extends string>(
  text: string | undefined,
  allowed: readonly Name[],
): readonly Name[] {
  const names = new Set(scopeNamesIn(text ?? ''));
  const known = allowed.filter((scope) => names.has(scope));
  return known.length > 0 ? known : allowed;
}
