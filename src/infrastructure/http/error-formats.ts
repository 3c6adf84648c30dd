import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../errors/index.js';

/** Sends errors to clients that don't use the error body of the API, such as OAuth clients and browsers. */
export interface ErrorFormat {
  appliesTo(request: Request): boolean;
  send(error: ApiError, request: Request, response: Response): void;
}

/** Error formats that modules register when they start. */
@Injectable()
export class ErrorFormats {
  private readonly formats: ErrorFormat[] = [];

  register(format: ErrorFormat): void {
    this.formats.push(format);
  }

  for(request: Request): ErrorFormat | undefined {
    return this.formats.find((format) => format.appliesTo(request));
  }
}
