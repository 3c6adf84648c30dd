import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Request } from 'express';
import { isSlowBody } from './request-body.js';

/**
 * Repeats guards that ran before the body was read, if the body took long to arrive: the login, the secret or the role that they
 * accepted may have ended meanwhile. Follows the guard that reads the body.
 */
export function RepeatAfterSlowBody(
  ...guards: readonly (CanActivate | Type<CanActivate>)[]
): Type<CanActivate> {
  @Injectable()
  class RepeatingGuard implements CanActivate {
    private repeated: Promise<CanActivate[]> | undefined;

    constructor(private readonly modules: ModuleRef) {}

    canActivate(context: ExecutionContext): boolean | Promise<boolean> {
      return !isSlowBody(context.switchToHttp().getRequest<Request>()) || this.repeat(context);
    }

    private async repeat(context: ExecutionContext): Promise<boolean> {
      this.repeated ??= Promise.all(
        guards.map((guard) => (typeof guard === 'function' ? this.modules.create(guard) : guard)),
      );
      for (const guard of await this.repeated) if (!(await guard.canActivate(context))) return false;
      return true;
    }
  }
  return mixin(RepeatingGuard);
}
