import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Guides } from './guides.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const guides = new Guides();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Pages that also address operators, who have the repository. */
const FOR_OPERATORS_TOO = ['CHANGELOG.md', 'docs/events.md', 'docs/merchant-gateway.md'];
const pages = guides.entries.map(({ file }) => file).filter((file) => file.endsWith('.md'));

describe('The pages of the site', () => {
  it('are those for integrators and for the platform’s services, the API reference and the changelog', () => {
    const paths = guides.entries.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/docs/quickstart',
        '/docs/errors',
        '/docs/receivers',
        '/docs/events',
        '/docs/api',
        '/docs/changelog',
      ]),
    );
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => /security|operations|architecture/.test(path))).toEqual([]);
  });

  it('are all listed in docs/README.md, which lists every page of docs', () => {
    const files = readdirSync(join(ROOT, 'docs')).filter(
      (file) => file.endsWith('.md') && file !== 'README.md',
    );
    expect(files.filter((file) => !read('docs/README.md').includes(`](${file})`))).toEqual([]);
  });

  it.each(pages.filter((file) => !FOR_OPERATORS_TOO.includes(file)))(
    'link only to other pages of the site (%s)',
    (file) => {
      const known = [...guides.entries.map((entry) => entry.file), 'docs/README.md'];
      const targets = [...read(file).matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(([, target = '']) => target);
      const local = targets.filter((target) => !/^[a-z]+:/.test(target));
      const unknown = local.filter((target) => !known.includes(posix.join(posix.dirname(file), target)));
      // Programs are part of their page.
      expect(
        unknown.filter((target) => !/^(?:\.\.\/examples\/(?:[\w-]+\/)?)?[\w-]+\.(?!md)\w+$/.test(target)),
      ).toEqual([]);
    },
  );

  it('contain the programs that they link to', async () => {
    for (const [path, id, code] of [
      ['/docs/receivers', 'receiverpy', 'verify_service_signature'],
      ['/docs/authentication', 'access-tokenmjs', 'verification_uri'],
    ] as const) {
      const entry = guides.entries.find((each) => each.path === path);
      if (!entry) throw new Error(`There is no page ${path}`);
      const { html } = await guides.render(entry);
      expect(html).toContain(`href="#${id}"`);
      expect(html.slice(html.indexOf(`<h2 id="${id}">`))).toContain(code);
    }
  });
});
