import MiniSearch, { type Options } from 'minisearch';
import { readProjectFile } from '../../infrastructure/project-files/index.js';
import type { ApiOperation } from './api-operations.js';
import { Guides } from './guides.js';
import { searchIndexOf } from './search-index.js';

const { paths } = JSON.parse(readProjectFile('openapi.json')) as {
  readonly paths: Record<
    string,
    Record<string, { operationId?: string; summary: string; description: string; tags: string[] }>
  >;
};
/** As the site has them. */
const OPERATIONS: readonly ApiOperation[] = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { operationId, summary, description, tags: [tag = ''] = [] }]) =>
    operationId === undefined
      ? []
      : [
          {
            id: operationId,
            method: method.toUpperCase(),
            path,
            summary,
            description,
            tag,
            href: `#${operationId}`,
          },
        ],
  ),
);

describe('The search', () => {
  const guides = new Guides();
  const entries = guides.entries.filter(({ file }) => file.endsWith('.md'));
  let search: MiniSearch;
  beforeAll(async () => {
    const pages = await Promise.all(
      entries.map(async (entry) => ({ entry, sections: (await guides.render(entry)).sections })),
    );
    const { index, options } = JSON.parse(await searchIndexOf(pages, OPERATIONS)) as {
      index: object;
      options: Options;
    };
    search = MiniSearch.loadJS(index as never, options);
  });
  /** As `assets/site.mjs` searches. */
  const resultsOf = (query: string): string[] => {
    const found = search.search(query, {
      boostDocument: (_id, _term, stored) => {
        const excerpt = String(stored?.['excerpt']).toLowerCase();
        const isNamed = [excerpt, excerpt.split(' ')[1]].includes(query.toLowerCase());
        return Number(stored?.['weight']) * (isNamed ? 20 : 1);
      },
    });
    return found.map(({ href }) => String(href));
  };

  it.each([
    ['static ip', '/docs/webhooks#delivery'],
    ['whitelist', '/docs/webhooks#delivery'],
    ['duplicate events', '/docs/webhooks#delivery'],
    ['event order', '/docs/webhooks#delivery'],
    ['ngrok', '/docs/command-line#listen-to-webhooks'],
    ['test data', '/docs/sandbox'],
    ['sso', '/docs/single-sign-on'],
    ['gdpr', '/docs/erasing-users'],
    ['poll events', '/docs/event-feed'],
    ['status page', '#listMerchantStatuses'],
    ['POST /events', '#publishEvent'],
    ['GET /webhook-events', '#readWebhookEvents'],
    ['/session/extend', '#extendSession'],
    ['INVALID_CURSOR_FORMAT', '/docs/errors#invalid_cursor_format'],
    ['event_cursor_expired', '/docs/errors#event_cursor_expired'],
    ['IDEMPOTENCY_KEY_REUSED', '/docs/errors#idempotency_key_reused'],
  ])('finds the page about %s first', (query, href) => {
    expect(resultsOf(query)[0]).toBe(href);
  });

  it.each(['verify', 'hmac', 'signature', 'webhook signature'])(
    'shows pages before source files for %s',
    (query) => {
      const isProgram = resultsOf(query).map((href) => /#receiver/.test(href));
      expect(isProgram).toContain(true);
      expect(isProgram.slice(0, 5)).toEqual([false, false, false, false, false]);
    },
  );
});
