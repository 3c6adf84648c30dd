import type { MerchantConnectivity } from './merchant-connectivity.js';
import type { ReadWebhookEventsQuery, WebhookEventListResponse } from './schemas.js';
import type { RequestOptions } from './transport.js';

/** Seconds: the maximum that the service accepts. */
const LONGEST_WAIT = 20;

/**
 * Reads the event feed, page by page, and waits for further events at its end. The function stores no cursor: store `next_cursor` after you
 * have processed a page, and pass it as `cursor` the next time. With `wait: 0`, stops at the end of the feed. Pages can be empty.
 *
 * @throws ApiError `EVENT_CURSOR_EXPIRED` if events after the cursor are no longer kept
 * @throws ApiError or ConnectionError of a request that failed, also after its retries: begin again with your cursor
 */
export async function* followEvents(
  client: Pick<MerchantConnectivity, 'readWebhookEvents'>,
  query: ReadWebhookEventsQuery = {},
  options?: RequestOptions,
): AsyncGenerator<WebhookEventListResponse, void, undefined> {
  const { wait = LONGEST_WAIT } = query;
  let { cursor } = query;
  for (;;) {
    const page = await client.readWebhookEvents(
      { ...query, wait, ...(cursor != null && { cursor }) },
      options,
    );
    cursor = page.next_cursor;
    yield page;
    if (wait === 0 && !page.has_more) return;
  }
}
