import { createParamDecorator, Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { cookieOf, setCookie } from '../../../infrastructure/http/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';

/** The columns of the list that users can choose, besides those that it always has. */
export const OPTIONAL_COLUMNS = [
  'latency',
  'user',
  'session',
  'task',
  'endpoint',
  'event_id',
  'reason',
] as const;
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number];

const DEFAULT_COLUMNS: readonly OptionalColumn[] = ['latency', 'user'];
const COOKIE = 'request_log_columns';
const COOKIE_LIFETIME = 365 * DAY;
const SEPARATOR = '.';
/** Stands for a choice without columns, because an empty cookie is deleted. */
const NONE = 'none';

/** Handler parameter: the columns that the browser has chosen. */
export const ChosenColumns = createParamDecorator(
  (_data: unknown, context: ExecutionContext): readonly OptionalColumn[] => {
    const chosen = cookieOf(context.switchToHttp().getRequest<Request>(), COOKIE);
    return chosen === undefined ? DEFAULT_COLUMNS : knownColumns(chosen.split(SEPARATOR));
  },
);

/** Remembers the chosen columns in a cookie. */
@Injectable()
export class ListColumns {
  constructor(private readonly clock: Clock) {}

  choose(response: Response, names: readonly string[]): void {
    const expires = new Date(this.clock.milliseconds() + COOKIE_LIFETIME);
    setCookie(response, COOKIE, knownColumns(names).join(SEPARATOR) || NONE, expires);
  }
}

function knownColumns(names: readonly string[]): OptionalColumn[] {
  return OPTIONAL_COLUMNS.filter((column) => names.includes(column));
}
