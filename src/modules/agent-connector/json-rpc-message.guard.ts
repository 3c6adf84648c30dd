import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { readJsonBody, requestContext } from '../../infrastructure/http/index.js';
import { calledTool } from './json-rpc-message.js';
import { Tools } from './tools/tools.js';

/**
 * Reads the message, after the token was checked. Batches are refused: the protocol dropped them in revision 2025-06-18, and the
 * limit and the log would count a batch as one call. Of the messages, only tool calls get an entry in the request log.
 */
@Injectable()
export class JsonRpcMessageGuard implements CanActivate {
  constructor(private readonly tools: Tools) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const attribution = requestContext(request);
    attribution.isRecorded = false;
    const call = calledTool(await readJsonBody(request, http.getResponse<Response>()));
    if (!call) return true;
    attribution.isRecorded = true;
    // Any other name is the agent's own text, which may contain anything.
    const tool = this.tools.find(call.name);
    if (tool) attribution.tool = tool.name;
    return true;
  }
}
