import { renderMarkdown } from './rendered-markdown.js';

const links: Record<string, { href: string; title?: string }> = {
  'errors.md#invalid_field': { href: '/docs/errors#invalid_field', title: 'Errors' },
  'https://example.com': { href: 'https://example.com' },
};
const render = (markdown: string) => renderMarkdown(markdown, (href) => links[href]);

describe('renderMarkdown', () => {
  it('gives headings the IDs of GitHub, which stay unique', async () => {
    const { html, sections, title } = await render(
      '# A & B\n\n## `POST /a_b`: Use it\n\n## Retry\n\n### Retry\n',
    );
    expect(title).toBe('A & B');
    expect(sections.map(({ id }) => id)).toEqual(['a--b', 'post-a_b-use-it', 'retry', 'retry-1']);
    expect([...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id)).toEqual(
      sections.map(({ id }) => id),
    );
  });

  it('rewrites links, and names pages instead of files', async () => {
    const { html, sections } = await render('# T\n\n[errors.md](errors.md#invalid_field)');
    expect(html).toContain('<a href="/docs/errors#invalid_field">Errors</a>');
    expect(sections[0]?.content).toBe('Errors');
    expect((await render('[all `codes`](errors.md#invalid_field)')).html).toContain(
      '>all <code>codes</code></a>',
    );
    expect((await render('[site](https://example.com)')).html).toContain(
      '<a href="https://example.com">site</a>',
    );
  });

  it('shows links to unpublished files as text', async () => {
    expect((await render('See [scaling.md](scaling.md).')).html).toBe('<p>See scaling.md.</p>\n');
  });

  it('leaves out HTML', async () => {
    const { html } = await render(
      '<!-- not run: why -->\n\n<script>alert(1)</script>\n\na <b onclick="x()">b</b>\n',
    );
    expect(html).not.toMatch(/<script|<b|<!--|onclick/);
  });

  it('escapes code, and colors languages that the pages use', async () => {
    expect((await render('```text\n<b>&\n```\n')).html).toContain('<code>&lt;b&gt;&amp;</code>');
    expect((await render('```sh\necho "$id"\n```\n')).html).toContain('<span class="hljs-string">');
    expect((await render('```cobol"><script>\nADD\n```\n')).html).not.toContain('<script>');
  });

  it('returns the text of each section for the search', async () => {
    const { sections } = await render(
      '# T\n\nOne *two*.\n\n- three\n\n| a |\n| --- |\n| `four` |\n\n```sh\nfive\n```\n',
    );
    expect(sections[0]?.content.split(/\s+/)).toEqual(['One', 'two.', 'three', 'a', 'four', 'five']);
  });

  it('shows blocks with labels as tabs, until other content comes between them', async () => {
    const { html } = await render(
      '```js JavaScript\na\n```\n\n<!-- a comment -->\n\n```py C & D\nb\n```\n\nText.\n\n```py Python\nc\n```\n\n```sh\nd\n```\n',
    );
    const groups = html.split('<div class="tabs"').slice(1);
    expect(
      groups.map((group) => [...group.matchAll(/<label [^>]*>([^<]*)/g)].map(([, label]) => label)),
    ).toEqual([['JavaScript', 'C &amp; D'], ['Python']]);
    expect(groups.map((group) => group.match(/ checked>/g)?.length)).toEqual([1, 1]);
    expect([...html.matchAll(/id="([^"]+)"/g)].map(([, id]) => id)).toEqual(
      [...html.matchAll(/for="([^"]+)"/g)].map(([, id]) => id),
    );
    expect([...html.matchAll(/class="language-(\w+)"/g)].map(([, language]) => language)).toEqual([
      'js',
      'py',
      'py',
      'sh',
    ]);
    expect(html.indexOf('language-sh')).toBeGreaterThan(html.lastIndexOf('</div></div>'));
  });
});
