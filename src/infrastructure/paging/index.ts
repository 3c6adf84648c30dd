import type { PlatformEnvironment } from '../config/index.js';
import { TextProperty } from '../openapi/index.js';
import { EnvironmentField, ExternalUserIdField, Field, IntegerField } from '../validation/index.js';

export const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 50;
const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd';

export interface RequestedPage {
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The maximum number of entries in a page, which has the default `DEFAULT_PAGE_SIZE`. */
export function PageSizeField(description: string): PropertyDecorator {
  return IntegerField({
    in: 'query',
    required: false,
    min: 1,
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    description,
    example: DEFAULT_PAGE_SIZE,
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

  @PageSizeField('Maximum number of entries in the page.')
  limit: number = DEFAULT_PAGE_SIZE;

  @CursorField('The `next_cursor` of the previous page, for the same user.')
  cursor?: string;
}

/** The cursor of the next page in a response. */
export function NextCursorProperty({ example = EXAMPLE_CURSOR } = {}): PropertyDecorator {
  return TextProperty('Send this value as `cursor` to get the next page; null on the last page.', example, {
    nullable: true,
  });
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
