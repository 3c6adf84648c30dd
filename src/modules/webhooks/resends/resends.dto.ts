import { TextField } from '../../../infrastructure/validation/index.js';
import { ListRequestLogsQuery } from '../../request-logs/index.js';

export const MAX_SELECTED = 100;
/** Characters of an event ID and an endpoint ID with a separator, and the comma before the next. */
const SELECTION_LENGTH = 74;

/** Separates the ID of the event from that of the endpoint, as in the list of the request log. */
const PART_SEPARATOR = '.';

/** An event, and the beginning of an endpoint's ID, which is empty if all deliveries of the event are selected. */
interface Selected {
  readonly eventId: string;
  readonly endpoint: string;
}

/** Which failed deliveries are sent again: the selected ones, or all that the filters find in the request log. */
export class ResendQuery extends ListRequestLogsQuery {
  /** The selected events or deliveries, separated by commas. */
  @TextField({ in: 'form', required: false, max: MAX_SELECTED * SELECTION_LENGTH })
  selected?: string;
}

export function selectedFrom(text: string): Selected[] {
  return text.split(',').map((each) => {
    const [eventId = '', endpoint = ''] = each.split(PART_SEPARATOR);
    return { eventId, endpoint };
  });
}
