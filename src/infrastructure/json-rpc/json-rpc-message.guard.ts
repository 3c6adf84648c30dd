import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_FIELD } from '../errors/index.js';
import { readJsonBody, requestContext } from '../http/index.js';
import { calledTool, problemOf, type JsonRpcMessage } from './json-rpc-message.js';

/** Any other name is the agent's own text, which may contain secrets. */
const TOOL_NAME = /^[a-z][a-z_]{0,63}$/;

/**
 * Reads the message, after the token was checked. Batches are refused: the protocol dropped them in revision 2025-06-18, and the
 * limits and the log would count a batch as one call. Of the messages, only tool calls get an entry in the request log.
 */
@Injectable()
export class JsonRpcMessageGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const message: JsonRpcMessage = await readJsonBody(request, http.getResponse<Response>());
    const problem = problemOf(message);
    if (problem !== undefined) throw INVALID_FIELD.error(problem);
    const call = calledTool(message);
    const attribution = requestContext(request);
    attribution.isRecorded = call !== undefined;
    if (typeof call?.name === 'string' && TOOL_NAME.test(call.name)) attribution.tool = call.name;
    return true;
  }
}
