import type { ListRequestLogsQuery } from '../request-logs.dto.js';

interface FilterDefinition {
  /** The column with the value; by default, it has the name of the filter. */
  readonly column?: string;
  /** Whether only entries of webhooks have a value. */
  readonly isOfWebhooks?: boolean;
  readonly isUuid?: boolean;
  /** The field of the dashboard, among those that most users need rarely. */
  readonly field?: { readonly label: string; readonly hint?: string; readonly type?: 'number' };
}

/**
 * The filters that select entries by the value of a column, named like the query parameters. To add one, add it here and to
 * `ListRequestLogsQuery`.
 */
export const REQUEST_LOG_FILTERS = {
  type: {},
  status_code: { field: { label: 'Status code', type: 'number', hint: '0: no response' } },
  error_code: { field: { label: 'Error code', hint: 'Such as INVALID_FIELD' } },
  request_id: { field: { label: 'Request ID', hint: 'X-Request-Id of the response' } },
  api_key: { field: { label: 'API key', hint: 'Its name' } },
  external_user_id: { field: { label: 'User', hint: 'The identifier in your system' } },
  event: { isOfWebhooks: true },
  session_id: { isUuid: true, field: { label: 'Session ID' } },
  task_id: { field: { label: 'Task ID', type: 'number' } },
  endpoint_id: { column: 'webhook_endpoint_id', isOfWebhooks: true, isUuid: true },
  event_id: {
    column: 'webhook_event_id',
    isOfWebhooks: true,
    isUuid: true,
    field: { label: 'Event ID', hint: 'The webhook-id header' },
  },
} satisfies Readonly<Record<string, FilterDefinition>>;

type FilterName = keyof typeof REQUEST_LOG_FILTERS;

/** Conditions, all of which an entry must meet. A query of the API is one. */
export type RequestLogFilter = Partial<Pick<ListRequestLogsQuery, FilterName | 'outcome'>>;

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
