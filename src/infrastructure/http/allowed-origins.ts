import { Injectable } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { HttpConfiguration } from './http.configuration.js';

/** The origins whose pages may request some operations in a browser. */
@Injectable()
export class AllowedOrigins {
  /** `*` stands for all. */
  readonly all: readonly string[];

  constructor({ corsOrigins }: HttpConfiguration, { isProduction }: ServiceConfiguration) {
    this.all = corsOrigins ?? (isProduction ? [] : ['*']);
  }

  includes(origin: string): boolean {
    return this.all.includes('*') || this.all.includes(origin);
  }
}
