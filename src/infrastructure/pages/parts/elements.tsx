import { Fragment, type ComponentChildren, type FunctionComponent, type VNode } from 'preact';
import { mayPerform, type DashboardPermission } from '../../auth/index.js';
import { ISOLATED, NEEDS_ISOLATION, shortened, TAIL_LENGTH, withoutControls } from '../foreign-text.js';
import { usePage, type Page } from '../page.js';
import { localClock, localDay, offsetAt } from '../time-zones.js';
import { Icon } from './icon.js';

/** How a value is colored. The words must say the same, because not everyone sees the color. */
export type Tone = 'good' | 'warn' | 'bad' | 'soft';

/** A state in a word or two. The style sheet gives all but soft ones an icon. */
export const Badge: FunctionComponent<{ readonly tone: Tone }> = ({ tone, children }) => (
  <span class={`badge tone-${tone}`}>{children}</span>
);

/** Text that others entered, or a sentence with such text. */
export function Foreign({ text }: { readonly text: string }): VNode {
  if (!NEEDS_ISOLATION.test(text)) return <>{text}</>;
  const parts = text.split(ISOLATED);
  return <bdi>{parts.map((part, index) => (index % 2 === 0 ? withoutControls(part) : part)).join('')}</bdi>;
}

/** A name of several words joined by `_`, such as that of an event, breaks only after one of them if it does not fit. */
export function Breakable({ text }: { readonly text: string }): VNode {
  const words = text.split(/(?<=_)/);
  if (words.length === 1 || text.length < MIN_SHORTENED_LENGTH || NEEDS_ISOLATION.test(text))
    return <Foreign text={text} />;
  return (
    <>
      {words.map((word, index) => (
        <Fragment key={index}>
          {index > 0 ? <wbr /> : null}
          {word}
        </Fragment>
      ))}
    </>
  );
}

/** A shorter value has no tail. Most columns are wide enough for it. */
const MIN_SHORTENED_LENGTH = 24;
/** The receiver of an event: its host says more than the end of the event's name. */
const RECEIVER = /(?<=^[A-Z_]+) to [\x21-\x7e]+$/;
/** The beginning of most URLs takes no place in a table. */
const SCHEME = /^https:\/\//;

/** Where the tail of a value begins: the last part of a URL or its query, an email address or an ID. */
const TAIL = /@[^@]{3,16}$|\/[^/@.-]{3,12}$|[.-][^/@.-]{3,8}$|[?&][^?&]{3,12}$/;

/**
 * A URL, an email address, an ID or a name on one line. If its place is too narrow, its middle gives way, because its end says
 * more; that of several words loses its end. A script shows the whole text on hover and focus.
 */
export function Middle({ text }: { readonly text: string }): VNode {
  const receiver = RECEIVER.exec(text);
  // The name in an email address says more than the end of a long domain.
  const isPlain = !receiver && /[^\x21-\x7e…]|^[^@]+@[^@]{16,}$/.test(text);
  if (text.length < MIN_SHORTENED_LENGTH || isPlain) return <Foreign text={text} />;
  // The end of a text without its middle begins after the mark, which would otherwise be there twice.
  const start = text.indexOf('…') + 1 || ((receiver ?? TAIL.exec(text))?.index ?? text.length - TAIL_LENGTH);
  const [scheme] = SCHEME.exec(text) ?? [''];
  return (
    <span class="middle">
      {scheme ? <span class="scheme">{scheme}</span> : null}
      <span>{text.slice(scheme.length, start)}</span>
      <span class={receiver ? 'tail to' : 'tail'}>{text.slice(start)}</span>
    </span>
  );
}

/** A success, a caution or an error, which screen readers announce when the page loads. */
export const Notice: FunctionComponent<{ readonly kind: 'good' | 'warn' | 'bad' }> = ({ kind, children }) => (
  <div class={`notice ${kind}`} role={kind === 'good' ? 'status' : 'alert'}>
    {children}
  </div>
);

/** Why the form was not accepted, if it was not. */
export function Problem({ message }: { readonly message: string | undefined }): VNode | null {
  return message === undefined ? null : <Notice kind="bad">{message}</Notice>;
}

/** Why the form or the query of the page was not accepted, if it was not and no field shows it. */
export function FormProblem(): VNode {
  return <>{usePage().rejected?.problem.notice}</>;
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
  readonly permission?: DashboardPermission;
  readonly kind?: 'first' | 'second' | 'danger';
  /** Read to screen readers after the label, if several links of a page have the same label. */
  readonly of?: string;
}

export const ButtonLink: FunctionComponent<ButtonLinkProps> = (props) => {
  const { to, permission, kind = 'first', children, of } = props;
  const { user } = usePage();
  if (permission && !(user && mayPerform(user, permission))) return null;
  return (
    <a class={`button ${kind}`} href={to}>
      {children}
      {of ? <span class="unseen">{` ${shortened(of)}`}</span> : null}
    </a>
  );
};

interface AllowedProps {
  readonly permission: DashboardPermission;
  /** Shown to the other users. */
  readonly otherwise?: ComponentChildren;
}

/** Shows something only to users whose role may perform the operation. */
export const Allowed: FunctionComponent<AllowedProps> = ({ permission, otherwise = null, children }) => {
  const { user } = usePage();
  return <>{user && mayPerform(user, permission) ? children : otherwise}</>;
};

interface MomentProps {
  readonly time: Date;
  /** Whether the time is shown to the millisecond. */
  readonly isExact?: boolean;
  /** Whether the time is shown without seconds, as on pages for users of partners. */
  readonly isToMinute?: boolean;
  /** Whether the time zone is shown elsewhere, such as in the head of the column. */
  readonly isInColumn?: boolean;
}

/** A time in the chosen time zone, as the whole product shows it: 2026-01-31 08:15:30 UTC. Hovering shows how long ago that is. */
export function Moment({
  time,
  isExact = false,
  isToMinute = false,
  isInColumn = false,
}: MomentProps): VNode {
  const { now, timeZone } = usePage();
  const clock = localClock(time, timeZone, isExact);
  const text = `${localDay(time, timeZone)} ${isToMinute ? clock.slice(0, 5) : clock}`;
  return (
    <time datetime={time.toISOString()} title={relativeTime(time, now)}>
      {isInColumn ? text : `${text} ${offsetAt(time, timeZone)}`}
    </time>
  );
}

/** The time of day of a row in a list by days. Hovering, and the focus in its row, show how long ago that is. */
export function ClockTime({ time }: Pick<MomentProps, 'time'>): VNode {
  const { now, timeZone } = usePage();
  return (
    <time datetime={time.toISOString()} title={relativeTime(time, now)}>
      {localClock(time, timeZone)}
    </time>
  );
}

/** A time relative to now, such as "5 minutes ago", which follows the time itself. */
export function RelativeTime({ time }: Pick<MomentProps, 'time'>): VNode {
  return (
    <time class="relative" datetime={time.toISOString()}>
      {relativeTime(time, usePage().now)}
    </time>
  );
}

interface Step {
  /** Absent for a step that happens now. */
  readonly time?: Date;
  readonly tone: Tone;
  readonly text: ComponentChildren;
}

/** Shows steps in chronological order, such as the attempts of a delivery. */
export function Timeline({ steps }: { readonly steps: readonly Step[] }): VNode {
  return (
    <ol class="timeline">
      {steps.map(({ time, tone, text }, index) => (
        <li key={index} class={`step-${tone}`}>
          {time ? <Moment time={time} /> : 'Now'} {text}
        </li>
      ))}
    </ol>
  );
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

interface CodeBlockProps {
  readonly title: string;
  readonly code: string;
  /** For a `CopyButton` elsewhere in the page. */
  readonly id?: string;
}

/** Text to read or copy. The button appears with the script that copies. */
export function CodeBlock({ title, code, id }: CodeBlockProps): VNode {
  return (
    <figure class="code-block" id={id}>
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

/** A button that copies the text of a `CodeBlock`, such as among the actions of a page. */
export function CopyButton({ label, of }: { readonly label: string; readonly of: string }): VNode {
  return (
    <button type="button" class="second copy needs-script" data-of={of}>
      {label}
    </button>
  );
}

/** A value on one line, with a button that copies it. */
export function Copyable({ title, text }: Readonly<Record<'title' | 'text', string>>): VNode {
  return (
    <span class="copyable">
      <code>{text}</code>{' '}
      <button type="button" class="second copy needs-script" aria-label={`Copy: ${title}`}>
        Copy
      </button>
    </span>
  );
}

interface Tab {
  readonly title: string;
  readonly content: ComponentChildren;
}

interface TabsProps {
  readonly tabs: readonly Tab[];
  /** The title of the tab that is shown first. */
  readonly selected?: string | undefined;
}

/** Parts of a page of which a script shows one at a time. Without it, they stand below each other. */
export function Tabs({ tabs, selected = tabs[0]?.title }: TabsProps): VNode {
  const idOf = (title: string): string => `tab-${title.toLowerCase()}`;
  return (
    <>
      <div class="tabs" role="tablist">
        {tabs.map(({ title }) => (
          <button
            key={title}
            type="button"
            role="tab"
            class="quiet"
            aria-controls={idOf(title)}
            aria-selected={title === selected ? 'true' : 'false'}
            tabindex={title === selected ? 0 : -1}
          >
            {title}
          </button>
        ))}
      </div>
      {tabs.map(({ title, content }) => (
        <section
          key={title}
          id={idOf(title)}
          class={title === selected ? 'tab shown' : 'tab'}
          aria-label={title}
        >
          <h2>{title}</h2>
          {content}
        </section>
      ))}
    </>
  );
}
