import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../errors/index.js';

/** How errors are told where the error body of the API is not what the caller understands, or not all. */
export interface ErrorFormat {
  appliesTo(request: Request): boolean;
  send(error: ApiError, request: Request, response: Response): void;
}

/** The dialects of this process. Modules that need one register it when they come up. */
@Injectable()
export class ErrorFormats {
  private readonly dialects: ErrorFormat[] = [];

  register(dialect: ErrorFormat): void {
    this.dialects.push(dialect);
  }

  for(request: Request): ErrorFormat | undefined {
    return this.dialects.find((dialect) => dialect.appliesTo(request));
  }
}
