import type { Type } from '@nestjs/common';
import type { PlatformEnvironment } from '../config/index.js';
import { IntegerProperty, ObjectProperty, TextProperty } from '../openapi/index.js';
import { EnvironmentField, ExternalUserIdField, Field, IntegerField } from '../validation/index.js';

export const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 50;
const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd';

export interface RequestedPage {
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The maximum number of entries in a page. */
export function PageSizeField(
  description = 'Maximum number of entries in the page.',
  { max = MAX_PAGE_SIZE, default: size = DEFAULT_PAGE_SIZE } = {},
): PropertyDecorator {
  return IntegerField({
    in: 'query',
    required: false,
    min: 1,
    max,
    default: size,
    description,
    example: size,
  });
}

/** The cursor of a page. Accepts any text, because services reject invalid cursors with a separate error code. */
export function CursorField(
  description: string,
  { example = EXAMPLE_CURSOR } = {},
  ...validators: PropertyDecorator[]
): PropertyDecorator {
  const schema = { type: String };
  return Field({ in: 'query', required: false, schema, description, example }, ...validators);
}

/** A page of what is stored about a user of a client. */
export class UserPageQuery {
  @EnvironmentField({ in: 'query', required: false, description: 'That of the client, by default.' })
  environment?: PlatformEnvironment;

  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;

  @PageSizeField()
  limit: number = DEFAULT_PAGE_SIZE;

  @CursorField('The `next_cursor` of the previous page, for the same user.')
  cursor?: string;
}

/** The class of a response with a page of a list. @param options.example a cursor */
export function PageOf<Entry extends object>(
  type: Type<Entry>,
  description: string,
  { example = EXAMPLE_CURSOR, size = DEFAULT_PAGE_SIZE } = {},
) {
  class PageResponse {
    @ObjectProperty([type], description)
    data!: Entry[];

    @TextProperty('Send this value as `cursor` to get the next page; null on the last page.', example, {
      nullable: true,
    })
    next_cursor!: string | null;

    @IntegerProperty('Maximum number of entries in the page.', size)
    limit!: number;
  }
  return PageResponse;
}

/**
 * Cuts the result of a query to a page. The query asks for one entry more than the page has, which shows whether there is a next
 * page.
 *
 * @returns the entries of the page, and the last one if there is a next page, which continues after it
 */
export function cutToPage<Entry>(
  found: readonly Entry[],
  limit: number,
): { readonly entries: Entry[]; readonly last: Entry | undefined } {
  const entries = found.slice(0, limit);
  return { entries, last: found.length > limit ? entries.at(-1) : undefined };
}
