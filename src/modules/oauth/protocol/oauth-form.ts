import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { Request, Response } from 'express';
import { readForm } from '../../../infrastructure/http/index.js';
import { Field, MESSAGES, withMessage } from '../../../infrastructure/validation/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { INVALID_CLIENT, INVALID_REQUEST } from './oauth-errors.js';

/** The parameters of a form that are not empty. The DTOs of the endpoints and grants say which of them are read. */
export type FormParameters = Readonly<Record<string, string>>;

/**
 * Injects the form sent by a public client (RFC 8252, section 8.4). Credentials are rejected, because the client
 * probably called the wrong endpoint and should stop sending them.
 */
export const PublicForm = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { headers } = context.switchToHttp().getRequest<Request>();
  if (headers.authorization !== undefined)
    throw INVALID_REQUEST.error('This endpoint takes no Authorization header.');
  return readOAuthForm(context);
});

/** Injects the form sent by an authenticated client. */
export const ConfidentialForm = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  readOAuthForm(context),
);

/** Rejects repeated parameters (RFC 6749, section 3.2). */
async function readOAuthForm(context: ExecutionContext): Promise<FormParameters> {
  const http = context.switchToHttp();
  const form = await readForm(http.getRequest<Request>(), http.getResponse<Response>());
  if (form.repeated !== undefined)
    throw INVALID_REQUEST.error('A parameter of the form is given more than once.');
  return form.parameters;
}

interface ParameterOptions {
  readonly required?: false;
  readonly const?: string;
  readonly format?: 'uuid';
}

/** A parameter of a form: any text that is not empty. What else can be wrong with it has an OAuth error of its own. */
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
    IsString(withMessage(MESSAGES.string)),
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
  const client = await directory.find(id);
  if (!client) throw INVALID_CLIENT.error();
  return client;
}
