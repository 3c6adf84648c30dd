import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EXPORT_FORMAT, type ExportFormat } from '../../../infrastructure/exports/index.js';
import { queryFrom, timestampFrom } from '../../../infrastructure/pages/index.js';
import { DAY, HOUR } from '../../../infrastructure/time/index.js';
import { EnumField } from '../../../infrastructure/validation/index.js';
import { MAX_PERIOD_DAYS } from '../reading/request-log-period.js';
import { ListRequestLogsQuery } from '../reading/request-logs.dto.js';

/** The query of a page, as it was sent. */
export type PageQuery = Readonly<Record<string, unknown>>;

/** Periods that end now, in milliseconds. Otherwise, the operation's default of 24 hours applies. */
const PERIODS: Readonly<Record<string, number>> = {
  '1h': HOUR,
  '7d': MAX_PERIOD_DAYS * DAY,
};
const ENTRIES_PER_PAGE = 50;

/** The parameters of an export. */
export class ExportRequestLogsQuery extends ListRequestLogsQuery {
  @EnumField(EXPORT_FORMAT, { in: 'query', description: 'The format of the file.', example: 'csv' })
  format!: ExportFormat;
}

/** @throws ApiError INVALID_FIELD */
export function listQuery(
  environment: PlatformEnvironment,
  query: PageQuery,
  now: Date,
): ListRequestLogsQuery {
  return queryFrom(ListRequestLogsQuery, filtersOf(query, now), { environment, limit: ENTRIES_PER_PAGE });
}

/** @throws ApiError INVALID_FIELD */
export function exportQuery(
  environment: PlatformEnvironment,
  query: PageQuery,
  now: Date,
): ExportRequestLogsQuery {
  return queryFrom(ExportRequestLogsQuery, filtersOf(query, now), { environment });
}

/** Returns the filters as the operation expects them: with times that have an offset, and without a relative period. */
function filtersOf({ period, start, end, ...filters }: PageQuery, now: Date): PageQuery {
  const length = PERIODS[String(period)];
  if (length !== undefined && !start && !end)
    return { ...filters, start: new Date(now.getTime() - length).toISOString(), end: now.toISOString() };
  return { ...filters, start: timestampFrom(start), end: timestampFrom(end) };
}
