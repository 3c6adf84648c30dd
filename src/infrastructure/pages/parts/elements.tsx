import type { ComponentChildren, FunctionComponent, VNode } from 'preact';
import { mayPerform, type DashboardOperationName } from '../../auth/index.js';
import { usePage, type Page } from '../page.js';
import { localTimeAt, offsetAt } from '../time-zones.js';
import { Icon } from './icon.js';

/** How a value is colored. The words must say the same, because not everyone sees the color. */
export type Tone = 'good' | 'warn' | 'bad' | 'soft';

/** A state in a word or two. The style sheet gives all but soft ones an icon. */
export const Badge: FunctionComponent<{ readonly tone: Tone }> = ({ tone, children }) => (
  <span class={`badge tone-${tone}`}>{children}</span>
);

/** Invisible characters that change the direction of the text around them, or are not text. Emoji contain U+200D. */
const CONTROLS = /[\p{Cc}\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** Such characters, and those of scripts that are written from right to left. */
const NEEDS_ISOLATION =
  /[\p{Cc}\u0590-\u08ff\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufb1d-\ufdff\ufe70-\ufeff\ufff9-\ufffb\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** What `isolated` returns, within a sentence. */
const ISOLATED = /(\u2068[^\u2066-\u2069]*\u2069)/;

/**
 * Returns text that others entered, for a sentence: its direction cannot change that of the sentence (Unicode, "isolates"), and
 * invisible characters are shown as their code points.
 */
export function isolated(text: string): string {
  return NEEDS_ISOLATION.test(text) ? `\u2068${withoutControls(text)}\u2069` : text;
}

function withoutControls(text: string): string {
  return text.replaceAll(
    CONTROLS,
    (control) => `<U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

/** Text that others entered, or a sentence with such text. */
export function Foreign({ text }: { readonly text: string }): VNode {
  if (!NEEDS_ISOLATION.test(text)) return <>{text}</>;
  const parts = text.split(ISOLATED);
  return <bdi>{parts.map((part, index) => (index % 2 === 0 ? withoutControls(part) : part)).join('')}</bdi>;
}

/** A shorter value has no tail. Most columns are wide enough for it. */
const MIN_SHORTENED_LENGTH = 24;
/** Where the tail of a value begins: the last part of a URL or its query, an email address or an ID. */
const TAIL = /@[^@]{3,16}$|\/[^/@.-]{3,12}$|[.-][^/@.-]{3,8}$|[?&][^?&]{3,12}$/;
const TAIL_LENGTH = 8;
/** What most URLs begin with takes no place in a table. */
const SCHEME = /^https:\/\//;

/** Characters of a text that is written in full elsewhere in its row. A column is seldom wider. */
const MAX_SHOWN_LENGTH = 56;

/** Returns a text without its middle, if it is long and the whole text is elsewhere: a page has dozens of them. */
export function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  // A pair of surrogates is one letter.
  const letters = [...text];
  if (letters.length <= MAX_SHOWN_LENGTH) return text;
  return `${letters.slice(0, MAX_SHOWN_LENGTH - TAIL_LENGTH).join('')}…${letters.slice(-TAIL_LENGTH).join('')}`;
}

/**
 * A URL, an email address, an ID or a name on one line. If its place is too narrow, its middle gives way, because its end says
 * more; that of several words loses its end. A script shows the whole text on hover and focus.
 */
export function Middle({ text }: { readonly text: string }): VNode {
  // The name in an email address says more than the end of a long domain.
  if (text.length < MIN_SHORTENED_LENGTH || /[^\x21-\x7e…]|^[^@]+@[^@]{16,}$/.test(text))
    return <Foreign text={text} />;
  const start = TAIL.exec(text)?.index ?? text.length - TAIL_LENGTH;
  const [scheme] = SCHEME.exec(text) ?? [''];
  return (
    <span class="middle">
      {scheme ? <span class="scheme">{scheme}</span> : null}
      <span>{text.slice(scheme.length, start)}</span>
      <span class="tail">{text.slice(start)}</span>
    </span>
  );
}

/** A success or error message, which screen readers announce when the page loads. */
export const Notice: FunctionComponent<{ readonly kind: 'good' | 'bad' }> = ({ kind, children }) => (
  <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** Why the form was not accepted, if it was not. */
export function Problem({ message }: { readonly message: string | undefined }): VNode | null {
  return message === undefined ? null : <Notice kind="bad">{message}</Notice>;
}

/** Why the form or the query of the page was not accepted, if it was not and no field shows it. */
export function FormProblem(): VNode {
  const { rejected } = usePage();
  return <Problem message={rejected?.labels.hasProblemAtField ? undefined : rejected?.problem} />;
}

/**
 * Says what the form that led to this page has done. The redirect after a form names it in the parameter `done` and in a cookie;
 * only the given messages can be shown.
 */
export function Done({ messages }: { readonly messages: Readonly<Record<string, string>> }): VNode | null {
  const { done } = usePage();
  const message = done !== undefined && Object.hasOwn(messages, done) ? messages[done] : undefined;
  return message === undefined ? null : <Notice kind="good">{message}</Notice>;
}

/** Shown in place of a list that has no entries. */
export const EmptyState: FunctionComponent<{ readonly title: string }> = ({ title, children }) => (
  <div class="empty">
    <Icon name="inbox" />
    <h2>{title}</h2>
    {children}
  </div>
);

/** Returns a text of a description as a paragraph, and anything else as it is. */
export function inParagraph(text: ComponentChildren): ComponentChildren {
  return typeof text === 'string' ? <p>{text}</p> : text;
}

export const Link: FunctionComponent<{ readonly to: string }> = ({ to, children }) => (
  <p>
    <a href={to}>{children}</a>
  </p>
);

interface NoticeDescription extends Omit<Page, 'content'> {
  readonly notice?: ComponentChildren;
  /** Defaults to `bad` if the status is that of an error. */
  readonly kind?: 'good' | 'bad';
  readonly text?: ComponentChildren;
  /** Where the user continues: labels by path. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Returns a page that only says something. */
export function noticePage({ notice, kind, text, links = {}, ...page }: NoticeDescription): Page {
  return {
    ...page,
    content: (
      <>
        {notice && <Notice kind={kind ?? ((page.status ?? 200) < 400 ? 'good' : 'bad')}>{notice}</Notice>}
        {inParagraph(text)}
        {Object.entries(links).map(([path, label]) => (
          <Link key={path} to={path}>
            {label}
          </Link>
        ))}
      </>
    ),
  };
}

interface ButtonLinkProps {
  readonly to: string;
  /** If given, only users whose role may perform the operation see the button. */
  readonly operation?: DashboardOperationName;
  readonly kind?: 'first' | 'second' | 'danger';
  /** Read to screen readers after the label, if several links of a page have the same label. */
  readonly of?: string;
}

export const ButtonLink: FunctionComponent<ButtonLinkProps> = (props) => {
  const { to, operation, kind = 'first', children, of } = props;
  const { user } = usePage();
  if (operation && !(user && mayPerform(user, operation))) return null;
  return (
    <a class={`button ${kind}`} href={to}>
      {children}
      {of ? <span class="unseen">{` ${shortened(of)}`}</span> : null}
    </a>
  );
};

interface AllowedProps {
  readonly operation: DashboardOperationName;
  /** Shown to the other users. */
  readonly otherwise?: ComponentChildren;
}

/** Shows something only to users whose role may perform the operation. */
export const Allowed: FunctionComponent<AllowedProps> = ({ operation, otherwise = null, children }) => {
  const { user } = usePage();
  return <>{user && mayPerform(user, operation) ? children : otherwise}</>;
};

interface MomentProps {
  readonly time: Date;
  /** Whether the time is shown to the millisecond. */
  readonly isExact?: boolean;
}

/** A time in the chosen time zone, to the minute. */
export function Moment({ time, isExact = false }: MomentProps): VNode {
  const { timeZone } = usePage();
  return <time datetime={time.toISOString()}>{exactTime(time, timeZone, isExact ? 23 : 16)}</time>;
}

/** A time relative to now, such as "5 minutes ago". Hovering shows the time in the chosen time zone to the second. */
export function RelativeTime({ time }: { readonly time: Date }): VNode {
  const { now, timeZone } = usePage();
  return (
    <time datetime={time.toISOString()} title={exactTime(time, timeZone, 19)}>
      {relativeTime(time, now)}
    </time>
  );
}

function exactTime(time: Date, zone: string, length: 16 | 19 | 23): string {
  return `${localTimeAt(time, zone).slice(0, length).replace('T', ' ')} ${offsetAt(time, zone)}`;
}

const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Units and their lengths in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Returns the time in words, in whole units, rounded down: 119 seconds ago is "1 minute ago". */
function relativeTime(time: Date, now: Date): string {
  const seconds = Math.trunc((time.getTime() - now.getTime()) / 1_000);
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return FORMAT.format(Math.trunc(seconds / length), unit);
}

/** Text to read or copy. The button appears with the script that copies. */
export function CodeBlock({ title, code }: Readonly<Record<'title' | 'code', string>>): VNode {
  return (
    <figure class="code-block">
      <figcaption>
        {title}
        <button type="button" class="second copy needs-script" aria-label={`Copy: ${title}`}>
          Copy
        </button>
      </figcaption>
      <pre tabindex={0} aria-label={title} role="region">
        <code>{code}</code>
      </pre>
    </figure>
  );
}

interface Tab {
  readonly title: string;
  readonly content: ComponentChildren;
}

/** Parts of a page of which a script shows one at a time. Without it, they stand below each other. */
export function Tabs({ tabs }: { readonly tabs: readonly Tab[] }): VNode {
  const idOf = (title: string): string => `tab-${title.toLowerCase()}`;
  return (
    <>
      <div class="tabs" role="tablist">
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            type="button"
            role="tab"
            class="quiet"
            aria-controls={idOf(title)}
            aria-selected={index === 0 ? 'true' : 'false'}
            tabindex={index === 0 ? 0 : -1}
          >
            {title}
          </button>
        ))}
      </div>
      {tabs.map(({ title, content }) => (
        <section key={title} id={idOf(title)} class="tab" aria-label={title}>
          <h2>{title}</h2>
          {content}
        </section>
      ))}
    </>
  );
}
