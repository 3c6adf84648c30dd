import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { VNode } from 'preact';

const { resolve } = createRequire(import.meta.url);

/** The icons of Lucide that pages use, by their name there. */
const NAMES = [
  'bot',
  'book-open',
  'bookmark',
  'chevron-down',
  'circle-alert',
  'circle-check',
  'circle-user',
  'columns-3',
  'credit-card',
  'download',
  'globe',
  'inbox',
  'key-round',
  'layout-dashboard',
  'link',
  'log-in',
  'log-out',
  'menu',
  'pause',
  'plus',
  'radio',
  'rotate-ccw-clock',
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

/** The icons of badges, which many rows of a list show. */
const TONES: Readonly<Record<string, string>> = {
  'circle-check': 'good',
  'circle-alert': 'warn',
  'triangle-alert': 'bad',
};

/** This package is a hundredth of that of Lucide itself, which has a file with a comment for each icon. */
const { icons } = JSON.parse(readFileSync(resolve('@iconify-json/lucide/icons.json'), 'utf8')) as {
  icons: Readonly<Record<IconName, { body: string }>>;
};

/**
 * The style of each icon, for the style sheet of all pages: an icon colors its shapes. Shapes in the page would take a tenth of
 * its size, and a list shows some of them in each row.
 */
export const ICON_STYLES = NAMES.map((name) => {
  const { body } = icons[name];
  const picture = encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${body}</svg>`,
  );
  const badge = TONES[name] ? `,.badge.tone-${TONES[name]}::before` : '';
  return `.icon-${name}${badge}{mask-image:url("data:image/svg+xml,${picture}")}`;
}).join('\n');

/** An icon beside words that say the same; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return <svg class={`icon icon-${name}`} aria-hidden="true" />;
}
