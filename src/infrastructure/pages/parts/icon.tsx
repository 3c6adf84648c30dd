import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { VNode } from 'preact';

const { resolve } = createRequire(import.meta.url);

/** The icons of Lucide that pages use, by the name of their file. */
const NAMES = [
  'bot',
  'book-open',
  'circle-alert',
  'circle-check',
  'circle-user',
  'credit-card',
  'globe',
  'history',
  'inbox',
  'key-round',
  'layout-dashboard',
  'link',
  'log-in',
  'log-out',
  'scroll-text',
  'settings',
  'shield-check',
  'smartphone',
  'store',
  'triangle-alert',
  'user-check',
  'users',
  'webhook',
  'x',
  'zap',
] as const;

export type IconName = (typeof NAMES)[number];

/** The shapes of each icon, without the `svg` element and the comment around them. */
const SHAPES = new Map(
  NAMES.map((name) => {
    const file = readFileSync(resolve(`lucide-static/icons/${name}.svg`), 'utf8');
    const shapes = file
      .replace(/^.*?<svg[^>]*>|<\/svg>\s*$/gs, '')
      .replaceAll(/\s+(?=<|$)|(?<=") (?=\/>)/g, '');
    return [name, shapes] as const;
  }),
);

/** The shapes of all icons, once per page: a list shows some of them in each row. */
export function IconShapes(): VNode {
  return (
    <svg class="icon-shapes" aria-hidden="true">
      {NAMES.map((name) => (
        <symbol
          key={name}
          id={`icon-${name}`}
          viewBox="0 0 24 24"
          dangerouslySetInnerHTML={{ __html: SHAPES.get(name) ?? '' }}
        />
      ))}
    </svg>
  );
}

/** An icon beside words that say the same; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
