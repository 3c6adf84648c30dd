import type { RequestLogType } from '../request-log-entry.js';
import type { RequestLogPageQuery } from '../request-logs.dto.js';
import { isOfOperation } from './sql/operation-of-entry.js';

interface FilterDefinition {
  /** The column with the value; by default, it has the name of the filter. */
  readonly column?: string;
  /** Returns the condition for the value in a parameter, if a column does not have it. */
  condition?(parameter: string): string;
  /** The type of the entries that have a value, if others have none. */
  readonly type?: RequestLogType;
  readonly isUuid?: boolean;
  /** The field of the dashboard, among those that most users need rarely. */
  readonly field?: { readonly label: string; readonly hint?: string; readonly type?: 'number' };
}

/**
 * The filters that select entries by a value, named like the query parameters. To add one, add it here and to
 * `ListRequestLogsQuery`, or to `RequestLogPageQuery` if only pages have it.
 */
export const REQUEST_LOG_FILTERS = {
  type: {},
  operation: {
    type: 'request',
    condition: isOfOperation,
    field: { label: 'Operation', hint: 'Such as POST /session/create' },
  },
  status_code: { field: { label: 'Status code', type: 'number', hint: '0: no response' } },
  error_code: { field: { label: 'Error code', hint: 'Such as INVALID_FIELD' } },
  request_id: { field: { label: 'Request ID', hint: 'X-Request-Id of the response' } },
  api_key: { field: { label: 'API key', hint: 'Its name' } },
  external_user_id: { field: { label: 'Customer', hint: 'The identifier in your system' } },
  event: { type: 'webhook' },
  session_id: { isUuid: true, field: { label: 'Session ID' } },
  task_id: { field: { label: 'Task ID', type: 'number' } },
  endpoint_id: { column: 'webhook_endpoint_id', type: 'webhook', isUuid: true },
  event_id: {
    column: 'webhook_event_id',
    type: 'webhook',
    isUuid: true,
    field: { label: 'Event ID', hint: 'The webhook-id header' },
  },
} satisfies Readonly<Record<string, FilterDefinition>>;

type FilterName = keyof typeof REQUEST_LOG_FILTERS;

/** Conditions, all of which an entry must meet. A query is one. */
export type RequestLogFilter = Partial<Pick<RequestLogPageQuery, FilterName | 'outcome'>>;

interface ActiveFilter extends FilterDefinition {
  readonly name: FilterName;
  readonly value: string | number;
}

const DEFINITIONS = Object.entries(REQUEST_LOG_FILTERS) as [FilterName, FilterDefinition][];

/** Returns the filters that are set, except for the outcome. */
export function activeFilters(filter: RequestLogFilter): ActiveFilter[] {
  return DEFINITIONS.flatMap(([name, definition]) => {
    const value = filter[name];
    return value === undefined ? [] : [{ ...definition, name, value }];
  });
}
