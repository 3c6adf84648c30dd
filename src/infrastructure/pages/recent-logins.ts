import { Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteTable } from '../http/index.js';

/** Metadata of a route: the milliseconds within which users must have logged in to send its form. */
export const RECENT_LOGIN = 'recent login';

/** The forms whose operations require a recent login. */
@Injectable()
export class RecentLogins {
  private forms: RecentLogins['found'] | undefined;

  constructor(
    private readonly routes: RouteTable,
    private readonly reflector: Reflector,
  ) {}

  /** Returns the milliseconds within which the user must have logged in to send a form to this path; undefined for any login. */
  within(path: string): number | undefined {
    this.forms ??= this.found;
    // `/users/new` is not an ID.
    const form =
      this.forms.find((each) => each.path === path) ?? this.forms.find(({ pattern }) => pattern.test(path));
    return form?.within;
  }

  private get found() {
    return this.routes.served
      .filter(({ method }) => method === 'POST')
      .map(({ path, pattern, handler }) => {
        const within = this.reflector.get<number | undefined>(RECENT_LOGIN, handler);
        return { path, pattern, within };
      });
  }
}
