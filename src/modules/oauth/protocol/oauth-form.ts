import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { readForm, type FormFields } from '../../../infrastructure/http/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import { INVALID_REQUEST } from './oauth-errors.js';

/**
 * Injects the form sent by a public client (RFC 8252, section 8.4). Credentials are rejected, because the client
 * probably called the wrong endpoint and should stop sending them.
 */
export const PublicForm = createParamDecorator(async (_data: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  if (request.headers.authorization !== undefined) {
    throw INVALID_REQUEST.error('This endpoint takes no Authorization header.');
  }
  return readOAuthForm(request, context.switchToHttp().getResponse<Response>());
});

/** Injects the form sent by an authenticated client. */
export const ConfidentialForm = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return readOAuthForm(http.getRequest<Request>(), http.getResponse<Response>());
});

/** Rejects repeated parameters (RFC 6749, section 3.2). */
async function readOAuthForm(request: Request, response: Response): Promise<FormFields> {
  const form = await readForm(request, response);
  if (form.repeated !== undefined)
    throw INVALID_REQUEST.error('A parameter of the form is given more than once.');
  return form;
}

/** Returns a required field of the form. @throws OAuthError `invalid_request` if it is missing or empty */
export function requireField(form: FormFields, name: string): string {
  const value = form.get(name);
  if (value === undefined) {
    throw INVALID_REQUEST.error(MESSAGES.required(name.replaceAll('_', ' ')));
  }
  return value;
}
