import type { ApiError, ApiErrorOptions, ProblemRule } from '../errors/index.js';
import { displayNameOf, fieldError, MESSAGES, messageAbout } from '../validation/index.js';
import { isolated, shortened } from './foreign-text.js';

/** Why a request was refused. */
export type Refusal = Pick<ApiError, 'message' | 'options'>;

type ProblemHtml = (reason: string, inTheWay: ApiErrorOptions['inTheWay']) => string;

/** Rules that pages word differently from responses. */
const PAGE_RULES: ReadonlyMap<ProblemRule | undefined, ProblemRule> = new Map<ProblemRule, ProblemRule>([
  [MESSAGES.selected, (field) => `The selected ${field} is invalid. Choose one from the list.`],
  [MESSAGES.maxBytes, (field, limit) => `The ${field} field must not be greater than ${inUnits(limit)}.`],
  [MESSAGES.blankParameter, (field) => `The filter ${field} must not be blank.`],
  [MESSAGES.repeatedParameter, (field) => `The filter ${field} is given more than once.`],
]);

/**
 * Why a page shows a form or filters again. The page is rendered with a placeholder wherever it shows the reason, which is worded
 * when all fields have entered their labels.
 */
export class PageProblem {
  private readonly labels = new Map<string, string>();
  /** The fields that the page shows. */
  private readonly fields = new Set<string>();
  /** The fields whose allowed values the page lists. */
  private readonly choices = new Set<string>();
  private isAtField = false;
  /** Stands for the notice that `FormProblem` shows. */
  readonly notice: string;
  /** Stands for the reason at its field. */
  private readonly atField: string;
  /** The problems with other fields. */
  private readonly others: readonly PageProblem[];

  /**
   * @param hasAddress whether the page has an address, as lists do: their fields may be in a menu that is closed, and show no problem
   * @param token a random value, so that no text of the page can be a placeholder
   */
  constructor(
    private readonly refusal: Refusal,
    private readonly hasAddress: boolean,
    token: string,
  ) {
    this.notice = `[notice ${token}]`;
    this.atField = `[problem ${token}]`;
    this.others = (refusal.options.others ?? []).map(
      (problem, index) => new PageProblem(fieldError(problem), hasAddress, `${token} ${index}`),
    );
  }

  /** Adds what the page calls a value of its requests. @param label without what follows in parentheses, such as a time zone */
  add(name: string, label: string): void {
    this.labels.set(requestName(name), label.replace(/ \(.*\)$/, ''));
    for (const other of this.others) other.add(name, label);
  }

  /** Adds a field that the page shows. */
  addField(name: string, label: string, isChoice: boolean): void {
    this.add(name, label);
    this.fields.add(requestName(name));
    if (isChoice) this.choices.add(requestName(name));
    for (const other of this.others) other.addField(name, label, isChoice);
  }

  /** Returns the placeholder of a reason if the field shows it: the first of those that it is about. */
  at(name: string): string | undefined {
    const { field = '', other } = this.refusal.options;
    const own = requestName(name);
    const isAbout = own === field || (own === other && !this.fields.has(field));
    if (this.hasAddress) return undefined;
    if (isAbout) {
      this.isAtField = true;
      return this.atField;
    }
    return this.others.map((problem) => problem.at(name)).find((placeholder) => placeholder !== undefined);
  }

  /** Returns the page with the reason. @param htmlOf renders the reason and what is in the way, and the notice about it */
  fill(html: string, htmlOf: Readonly<Record<'text' | 'notice', ProblemHtml>>): string {
    const { isAtField, reason } = this;
    const { inTheWay } = this.refusal.options;
    const filled = html
      .replaceAll(this.notice, () => (isAtField ? '' : htmlOf.notice(reason, inTheWay)))
      .replaceAll(this.atField, () => htmlOf.text(reason, inTheWay));
    return this.others.reduce((before, problem) => problem.fill(before, htmlOf), filled);
  }

  /** The reason, with the labels of fields in place of their names. */
  get reason(): string {
    const { message, options } = this.refusal;
    const { field, rule } = options;
    if (field === undefined || rule === undefined) return message;
    const problem = { ...options, field, rule };
    const isListed = rule !== MESSAGES.selected || this.choices.has(field);
    const ownRule = this.labels.has(field) && isListed ? PAGE_RULES.get(rule) : undefined;
    const nameOf = (name: string, item?: Refusal['options']['item']): string => {
      const label = item ? isolated(shortened(String(item.value))) : this.labels.get(name);
      return label === undefined ? displayNameOf(name) : `“${label}”`;
    };
    const worded = messageAbout({ ...problem, rule: ownRule ?? rule }, nameOf);
    return message.replace(messageAbout(problem), () => worded);
  }
}

/** Returns the name of the field in the request: those of checkboxes end with `[]` in a form. */
export function requestName(name: string): string {
  return name.replace(/\[\]$/, '');
}

const UNITS = [
  ['MiB', 1_048_576],
  ['KiB', 1_024],
] as const;

function inUnits(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  return unit ? `${bytes / unit[1]} ${unit[0]}` : `${bytes} bytes`;
}
