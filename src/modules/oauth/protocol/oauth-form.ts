import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { readForm, type FormFields } from '../../../infrastructure/http/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import { INVALID_REQUEST } from './oauth-errors.js';

/**
 * The handler's parameter that holds the form sent by a public client (RFC 8252, section 8.4), which has
 * no credentials: who presents some has mistaken the endpoint, and should not go on sending them here.
 */
export const PublicForm = createParamDecorator(async (_data: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  if (request.headers.authorization !== undefined) {
    throw INVALID_REQUEST.error('This endpoint takes no Authorization header.');
  }
  return readOAuthForm(request, context.switchToHttp().getResponse<Response>());
});

/** The handler's parameter that holds the form sent by a client which a guard has authenticated. */
export const ConfidentialForm = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return readOAuthForm(http.getRequest<Request>(), http.getResponse<Response>());
});

/** RFC 6749, section 3.2: no parameter more than once. */
async function readOAuthForm(request: Request, response: Response): Promise<FormFields> {
  const form = await readForm(request, response);
  if (form.repeated !== undefined)
    throw INVALID_REQUEST.error('A parameter of the form is given more than once.');
  return form;
}

/** @throws ApiError (`invalid_request`) when the field is absent or empty */
export function requireField(form: FormFields, name: string): string {
  const value = form.get(name);
  if (value === undefined) {
    throw INVALID_REQUEST.error(MESSAGES.required(name.replaceAll('_', ' ')));
  }
  return value;
}
