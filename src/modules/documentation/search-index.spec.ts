import MiniSearch, { type Options } from 'minisearch';
import { Guides } from './guides.js';
import { searchIndexOf } from './search-index.js';

describe('The search', () => {
  const guides = new Guides();
  const entries = guides.entries.filter(({ file }) => file.endsWith('.md'));
  let search: MiniSearch;
  beforeAll(async () => {
    const pages = await Promise.all(
      entries.map(async (entry) => ({ entry, sections: (await guides.render(entry)).sections })),
    );
    const { index, options } = JSON.parse(await searchIndexOf(pages, [])) as {
      index: object;
      options: Options;
    };
    search = MiniSearch.loadJS(index as never, options);
  });
  /** As `assets/site.mjs` searches. */
  const resultsOf = (query: string): string[] => {
    const found = search.search(query, {
      boostDocument: (_id, _term, stored) => Number(stored?.['weight']),
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
