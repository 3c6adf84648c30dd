import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceConfiguration } from '../config/index.js';
import type { ApiError } from '../errors/index.js';
import { ErrorFormats, NOT_JSON, type ErrorFormat } from '../http/index.js';
import { idOf, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, SERVER_ERROR } from './json-rpc-message.js';

/** Sends the errors of the connector as JSON-RPC errors, with the error body of the API as `data`. */
@Injectable()
export class JsonRpcErrorFormat implements ErrorFormat, OnModuleInit {
  constructor(
    private readonly formats: ErrorFormats,
    private readonly configuration: ServiceConfiguration,
  ) {}

  onModuleInit(): void {
    if (this.configuration.serves('connector')) this.formats.register(this);
  }

  appliesTo(request: Request): boolean {
    return request.path === '/mcp';
  }

  send(error: ApiError, request: Request, response: Response): void {
    const { error_message: message, ...data } = error.body;
    response
      .status(error.status)
      .set(error.headers)
      .json({ jsonrpc: '2.0', id: idOf(request.body), error: { code: codeOf(error), message, data } });
  }
}

function codeOf({ status, message }: ApiError): number {
  if (status === 400) return message.startsWith(NOT_JSON) ? PARSE_ERROR : INVALID_REQUEST;
  return status === 500 ? INTERNAL_ERROR : SERVER_ERROR;
}
