import type { Type } from '@nestjs/common';
import { createContext, type FunctionComponent, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../crypto/index.js';
import { fieldOf } from '../../validation/index.js';
import { usePage } from '../page.js';
import { localTimeOf, SEEN_FIELD, type ShownValues } from '../page-input.js';
import { UTC, ZONE_PARAMETER } from '../time-zones.js';
import { shortened } from '../foreign-text.js';
import { Breakable } from './elements.js';

export const FORM_TOKEN_FIELD = 'form_token';
/** The field with a random value for each page, which shows that a browser sent the same form of the same page again. */
export const PAGE_TOKEN_FIELD = 'page_token';

interface FormProps {
  /** Defaults to the path of the page. */
  readonly action?: string;
  /** For buttons outside of the form. */
  readonly id?: string;
  /** Whether the form has a `FileField`. Its route must be declared with `hasFiles`, too. */
  readonly hasFiles?: boolean;
  /** Whether the form is processed once if the browser sends it twice. True for forms of logged-in users. */
  readonly isOnce?: boolean;
}

/** A form that is sent with POST and the anti-forgery token. */
export const Form: FunctionComponent<FormProps> = ({
  action,
  id,
  hasFiles = false,
  isOnce = false,
  children,
}) => {
  const { formToken, pageToken, user, path, loginWithin } = usePage();
  return (
    <form
      id={id}
      method="post"
      action={action ?? path}
      enctype={hasFiles ? 'multipart/form-data' : undefined}
      data-login-within={loginWithin(action ?? path)}
    >
      <input type="hidden" name={FORM_TOKEN_FIELD} value={formToken} />
      {isOnce || user ? <input type="hidden" name={PAGE_TOKEN_FIELD} value={pageToken} /> : null}
      {children}
    </form>
  );
};

/** The values that the form is about to change: with `requireUnchanged`, it cannot undo what somebody else changed in the meantime. */
export const Seen: FunctionComponent<{ readonly values: ShownValues }> = ({ values }) => (
  <input type="hidden" name={SEEN_FIELD} value={JSON.stringify(values)} />
);

interface CurrentRequest {
  /** The class of the request that the form sends. Whether its fields are required, and their limits, follow from it. */
  readonly type?: Type<object>;
  /** The values that the fields show when the form is opened, by their names. */
  readonly values?: object;
}

export const RequestOfForm = createContext<CurrentRequest>({});

/** Returns what the class of the request says about a field, and its value. */
function useDeclaredField(name: string) {
  const { type, values = {} } = useContext(RequestOfForm);
  const field = type && fieldOf(type.prototype as object, name);
  const { format, maxLength } = (field?.schema ?? {}) as {
    readonly format?: string;
    readonly maxLength?: number;
  };
  const value = (values as Readonly<Record<string, unknown>>)[name];
  return {
    required: (field?.required ?? true) === true,
    maxLength,
    type: format === 'email' ? format : format === 'uri' ? 'url' : 'text',
    value: textOf(value),
  } as const;
}

/** A Boolean is `yes` or `no`, as in the form. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === undefined || value === null ? undefined : String(value);
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value was not accepted. Errors of operations need no property: they are shown at their field. */
  readonly error?: string | undefined;
  /** Whether the page lists the allowed values. */
  readonly isChoice?: boolean;
  /** Whether the user begins here: the field has the focus when the page opens. */
  readonly isFirst?: boolean;
}

function errorOf({ name, error }: Pick<FieldProps, 'name' | 'error'>): string | undefined {
  return usePage().rejected?.problem.at(name) ?? error;
}

/** Returns what the user entered, if the form was not accepted. */
function currentValue(name: string, value: string | undefined): string | undefined {
  const form = usePage().rejected?.form;
  return form?.has(name) ? (form.get(name) ?? '') : value;
}

function Hint({ of, text }: { readonly of: string; readonly text: string | undefined }): VNode | null {
  return text ? (
    <span id={`${of}-hint`} class="hint">
      {text}
    </span>
  ) : null;
}

function FieldError({ of, text }: { readonly of: string; readonly text: string | undefined }): VNode | null {
  return text ? (
    <span id={`${of}-error`} class="error">
      {text}
    </span>
  ) : null;
}

/** A label, a hint and an error around a control that they describe to screen readers (WCAG 2.2, 3.3.1). */
const Labeled: FunctionComponent<FieldProps> = (props) => {
  const { name, label, hint, isChoice = false, children } = props;
  usePage().rejected?.problem.addField(name, label, isChoice);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      <FieldError of={name} text={errorOf(props)} />
      <Hint of={name} text={hint} />
    </div>
  );
};

/** Returns the attributes that every labeled control has. A field with an error has the focus, so that the user need not search it. */
function control(props: FieldProps) {
  const { name, hint, isFirst } = props;
  const error = errorOf(props);
  const descriptions = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return {
    id: name,
    name,
    'aria-describedby': descriptions || undefined,
    'aria-invalid': error ? ('true' as const) : undefined,
    autofocus: isFirst ?? error !== undefined,
  };
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'search' | 'email' | 'password' | 'url' | 'datetime-local' | 'number';
  readonly value?: string | undefined;
  /**
   * The value that browsers and password managers may fill in (HTML, "autofill"). Defaults to none: browsers ignore `off` in fields of
   * the type `password`, and would fill in the user's own password, but no saved one where a new password is entered.
   */
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'text';
  /** `none` for names that phones must not begin with a capital letter. */
  readonly autocapitalize?: 'none';
  /** Defaults to true. */
  readonly required?: boolean;
  readonly maxLength?: number;
  /** Whether it is for a code that works once: if the code was refused, the field is empty, and the user can type another one. */
  readonly isCode?: boolean;
  readonly placeholder?: string;
  /** Values that the browser suggests while the user types. */
  readonly suggestions?: readonly string[];
}

/** A labeled field. Its error is associated with it for screen readers. */
export function TextField(props: TextFieldProps): VNode {
  const { name, isCode = false } = props;
  const field = useDeclaredField(name);
  const { type = field.type } = props;
  const { value = type === 'password' ? undefined : field.value } = props;
  const isShownAgain = type !== 'password' && type !== 'datetime-local' && !isCode;
  return (
    <Labeled {...props}>
      <input
        {...control(props)}
        type={type}
        value={isShownAgain ? currentValue(name, value) : value}
        required={props.required ?? field.required}
        maxLength={props.maxLength ?? field.maxLength}
        autocomplete={
          props.autocomplete ?? (isCode ? 'one-time-code' : type === 'password' ? 'new-password' : 'off')
        }
        inputmode={props.inputmode}
        placeholder={props.placeholder}
        autocapitalize={props.autocapitalize}
        list={props.suggestions ? `${props.name}-suggestions` : undefined}
      />
      {props.suggestions ? (
        <datalist id={`${props.name}-suggestions`}>
          {props.suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      ) : null}
    </Labeled>
  );
}

/** A value that the form sends without showing it. After the form was refused, it is the one that was sent. */
export function HiddenField({ name, value }: Pick<TextFieldProps, 'name' | 'value'>): VNode {
  const field = useDeclaredField(name);
  return <input type="hidden" name={name} value={currentValue(name, value ?? field.value)} />;
}

interface FileFieldProps extends FieldProps {
  /** The media types that the browser offers. */
  readonly mediaTypes: readonly string[];
}

/** A labeled choice of one file, which is required. */
export function FileField(props: FileFieldProps): VNode {
  return (
    <Labeled {...props}>
      <input {...control(props)} type="file" accept={props.mediaTypes.join(',')} required />
    </Labeled>
  );
}

interface TimeFieldProps extends FieldProps {
  /** A time, or what was entered or found in the address. */
  readonly value?: Date | string | undefined;
  readonly required?: boolean;
}

/**
 * A labeled field for a time in the chosen time zone, to the minute. `timestampFrom()` reads it with the time zone of
 * `ZoneField`.
 */
export function TimeField({ value, label, ...field }: TimeFieldProps): VNode {
  const { timeZone, rejected } = usePage();
  const text = value instanceof Date ? value.toISOString() : value;
  const zone = rejected?.form?.get(ZONE_PARAMETER);
  return (
    <TextField
      {...field}
      type="datetime-local"
      label={`${label} (${timeZone})`}
      value={localTimeOf(text, zone, timeZone)?.slice(0, 16)}
    />
  );
}

/** The time zone of the times in a form. It is sent with them, so that they mean the same after the user chose another one. */
export function ZoneField(): VNode | null {
  const { timeZone } = usePage();
  return timeZone === UTC ? null : <input type="hidden" name={ZONE_PARAMETER} value={timeZone} />;
}

interface TextAreaProps extends FieldProps {
  readonly value?: string | undefined;
  readonly rows?: number;
}

/** A labeled field of several lines. */
export function TextArea(props: TextAreaProps): VNode {
  const field = useDeclaredField(props.name);
  return (
    <Labeled {...props}>
      <textarea {...control(props)} rows={props.rows ?? 8} required={field.required}>
        {currentValue(props.name, props.value ?? field.value)}
      </textarea>
    </Labeled>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
  /** Explains a checkbox. Not shown for the options of a select field. */
  readonly hint?: string;
}

export interface SelectOption extends Option {
  /** The heading that the option is under. Options without one come first. */
  readonly group?: string;
}

interface SelectFieldProps extends FieldProps {
  readonly options: readonly SelectOption[];
  readonly value?: string | undefined;
  /** Whether long options are shown as a whole. */
  readonly isWhole?: boolean;
}

/** A labeled choice of one option. */
export function SelectField(props: SelectFieldProps): VNode {
  const { name, options, isWhole = false } = props;
  const field = useDeclaredField(name);
  const initial = props.value ?? field.value ?? '';
  const chosen = currentValue(name, initial);
  const selected = options.some(({ value }) => value === chosen) ? chosen : initial;
  const optionsOf = (wanted?: string): VNode[] =>
    options
      .filter(({ group }) => group === wanted)
      .map(({ value, label }) => (
        <option key={value} value={value} selected={value === selected}>
          {isWhole ? label : shortened(label)}
        </option>
      ));
  const groups = new Set(options.map(({ group }) => group).filter((group) => group !== undefined));
  return (
    <Labeled {...props} isChoice>
      <select {...control(props)}>
        {optionsOf()}
        {[...groups].map((group) => (
          <optgroup key={group} label={group}>
            {optionsOf(group)}
          </optgroup>
        ))}
      </select>
    </Labeled>
  );
}

const OVERLAPS = [1, 4, 12, DEFAULT_OVERLAP_HOURS, 48, 72, MAX_OVERLAP_HOURS, 0];

/** A labeled choice of the overlap of a rotation. While another one is in progress, there can be none. */
export function OverlapField({
  isInProgress,
  hint,
}: {
  readonly isInProgress: boolean;
  readonly hint?: string;
}): VNode {
  const overlaps = isInProgress ? [0] : OVERLAPS;
  return (
    <SelectField
      name="overlap_hours"
      label="Overlap"
      hint={isInProgress ? undefined : hint}
      value={isInProgress ? '0' : String(DEFAULT_OVERLAP_HOURS)}
      options={overlaps.map((hours) => ({ value: String(hours), label: overlapInWords(hours) }))}
    />
  );
}

function overlapInWords(hours: number): string {
  if (hours === 0) return 'None (after a leak)';
  if (hours % 24 === 0 && hours > 24) return `${hours / 24} days`;
  return hours === 1 ? '1 hour' : `${hours} hours`;
}

/** A labeled switch for a Boolean. */
export function SwitchField(props: FieldProps): VNode {
  const { name, label, hint } = props;
  const field = useDeclaredField(name);
  const value = currentValue(name, field.value);
  usePage().rejected?.problem.addField(name, label, true);
  return (
    <div class="field switch">
      <label for={name}>
        <input {...control(props)} type="checkbox" role="switch" value="yes" checked={value === 'yes'} />
        <span>{label}</span>
      </label>
      {/* A box that is not checked is not sent. The first of two fields counts. */}
      <input type="hidden" name={name} value="no" />
      <FieldError of={name} text={errorOf(props)} />
      <Hint of={name} text={hint} />
    </div>
  );
}

interface CheckboxesProps {
  readonly name: string;
  readonly legend: string;
  readonly hint?: string;
  readonly options: readonly Option[];
  readonly values: readonly string[];
}

/** A group of checkboxes. The form has one field per checked box, all with the same name. */
export function Checkboxes({ name, legend, hint, options, values }: CheckboxesProps): VNode {
  const { rejected } = usePage();
  rejected?.problem.addField(name, legend, true);
  const checked = rejected?.form?.all(name) ?? values;
  const error = errorOf({ name });
  const descriptions = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return (
    <fieldset aria-describedby={descriptions || undefined}>
      <legend>{legend}</legend>
      <Hint of={name} text={hint} />
      <FieldError of={name} text={error} />
      <div class="checkboxes">
        {options.map(({ value, label, hint: explanation }, index) => (
          <label key={value} class="checkbox">
            <input
              type="checkbox"
              name={name}
              value={value}
              checked={checked.includes(value)}
              autofocus={index === 0 && error !== undefined}
            />
            <span>
              <Breakable text={label} />
              {explanation ? <span class="hint">{explanation}</span> : null}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SubmitButtonProps {
  /** Whether the action cannot be undone. */
  readonly isDestructive?: boolean;
}

/** The button that sends a form, and beside it the way back to the page that the form belongs to. */
export const SubmitButton: FunctionComponent<SubmitButtonProps> = ({ isDestructive = false, children }) => {
  const { parent } = usePage();
  return (
    <div class="actions">
      <button class={isDestructive ? 'danger' : undefined}>{children}</button>
      {parent ? (
        <a class="button second" href={parent.path}>
          Cancel
        </a>
      ) : null}
    </div>
  );
};

interface ActionButtonProps {
  readonly action: string;
  /** The values that the button changes, as the page shows them, for `requireUnchanged`. */
  readonly version?: ShownValues | undefined;
  /** Read to screen readers after the label, if several buttons of a page have the same label. */
  readonly of?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A form with one button, which changes something at once and can be undone. */
export const ActionButton: FunctionComponent<ActionButtonProps> = ({
  action,
  version,
  children,
  of,
  fields = {},
}) => (
  <Form action={action}>
    {version && <Seen values={version} />}
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
    <button class="second">
      {children}
      {of ? <span class="unseen">{` ${shortened(of)}`}</span> : null}
    </button>
  </Form>
);
