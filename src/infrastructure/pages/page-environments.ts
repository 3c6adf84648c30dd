import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ServiceConfiguration, type PlatformEnvironment } from '../config/index.js';
import { cookieOf, environmentOf } from '../http/index.js';

/** Remembers the environment, so that pages of the whole organization lead back to it. */
export const ENVIRONMENT_COOKIE = 'environment';

/** The environments that pages of the dashboard show. */
@Injectable()
export class PageEnvironments {
  constructor(private readonly configuration: ServiceConfiguration) {}

  /** The environments that this deployment serves. */
  get served(): readonly PlatformEnvironment[] {
    return this.configuration.environments;
  }

  /** Returns the environment that the page shows, or else the one that the browser last showed. */
  of(request: Request): PlatformEnvironment {
    const wanted: readonly unknown[] = [environmentOf(request.path), cookieOf(request, ENVIRONMENT_COOKIE)];
    const found = wanted.flatMap((name) => this.served.filter((each) => each === name));
    return found[0] ?? this.served[0] ?? 'development';
  }
}
