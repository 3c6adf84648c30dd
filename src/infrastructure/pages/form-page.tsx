import { Get, Post, type Type } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import type { DashboardPermission } from '../auth/index.js';
import type { Check } from '../database/index.js';
import type { FormOptions } from '../http/index.js';
import type { Page, PageResponse } from './page.js';
import {
  ANY_USER,
  DashboardAction,
  DashboardPage,
  environmentFor,
  Visit,
  type PageRouteOptions,
  type PageVisit,
} from './page-route.decorator.js';
import { Allowed, FormProblem, inParagraph } from './parts/elements.js';
import { Form, RequestOfForm, Seen, SubmitButton } from './parts/form.js';
import { Details } from './parts/table.js';
import { requestFrom, requireUnchanged, submitted, type ShownValues } from './page-input.js';

interface FormParts extends Pick<Page, 'title' | 'messages' | 'formsLeaveSite'> {
  /** The page that the form belongs to, where *Cancel* leads. Undefined for a form on a page of the menu. */
  readonly parent: Page['parent'];
  /** Above the form. */
  readonly text?: ComponentChildren;
  /** `TextField`, `SelectField` and so on. Whether they are required, their types and limits follow from the request's class. */
  readonly fields?: ComponentChildren;
  /** The values that the fields show when the form is opened, by their names. */
  readonly values?: object;
  /** The path that the form is sent to, if other forms of the page, with other paths, can show it again. Defaults to the path of the request. */
  readonly action?: string;
  /** The label of the button: what happens, such as "Delete endpoint". */
  readonly button: string;
  /** Whether the action cannot be undone. Defaults to false; for a `Confirmation`, to true. */
  readonly isDestructive?: boolean;
  /** Below the form. */
  readonly after?: ComponentChildren;
  /** In place of the form, for users who may open the page but not send the form. */
  readonly otherwise?: ComponentChildren;
}

/**
 * The effect of sending the form. It leads to a path (`next`), or `perform` returns the response. `perform` has `check` called with the
 * current `subject` while it is locked.
 */
type Work<Request, Subject> =
  | {
      perform(request: Request, check: Check<Subject>): Promise<unknown>;
      /** The parameter `done` names the message that the page at this path shows. */
      readonly next: string;
    }
  | { perform(request: Request, check: Check<Subject>): Promise<PageResponse>; readonly next?: undefined };

/**
 * The thing that the form changes, and its values, as the page shows them. If they are others than when the form was opened, the form is
 * refused, so that it cannot undo the change of somebody else.
 */
interface Version<Subject> {
  readonly subject: Subject;
  shows(current: Subject): ShownValues;
}

export type FormDescription<Request = object, Subject = unknown> = FormParts &
  Work<Request, Subject> &
  Partial<Version<Subject>>;

/** The content of a page that only asks before an action, and the effect of the action. The page also shows the values of its `subject`. */
export type Confirmation<Subject = unknown, Request = object> = Omit<
  FormParts,
  'action' | 'fields' | 'text'
> &
  Work<Request, Subject> &
  (Version<Subject> | typeof UNCHANGEABLE) & {
    /** The effect of the action, and further fields. */
    readonly text: ComponentChildren;
  };

/** In place of the subject of a confirmation: nobody else can change what the user confirms. */
export const UNCHANGEABLE = { subject: undefined, shows: undefined };

/** The operation that a form performs. A page of settings can be shown to users who may not change them. */
type FormPermission =
  DashboardPermission | { readonly show: DashboardPermission; readonly send: DashboardPermission };

type FormPageOptions = FormOptions & Pick<PageRouteOptions, 'opener'>;

/** The request of a form that only has a button. */
class WithoutFields {}

/**
 * A controller with a form, shown with GET and sent with POST. It has the permission, request limit and audit log entries of the
 * operation. If the request is refused for a reason that the user can correct, the form is shown again with it.
 *
 * @param type the class of the request, which validates the fields and declares what they accept; without it, there are no fields
 */
export function FormPage<Request extends object>(
  permission: FormPermission,
  type: Type<Request> = WithoutFields as Type<Request>,
  options: FormPageOptions = {},
) {
  return controllerOf<Request, FormDescription<Request>>(permission, type, options, (form) => form);
}

/** A controller that asks before an action, with GET, and performs it, with POST. See `FormPage`. */
export function ConfirmPage<Request extends object>(
  permission: DashboardPermission,
  type: Type<Request> = WithoutFields as Type<Request>,
) {
  return controllerOf<Request, Confirmation<unknown, Request>>(
    permission,
    type,
    {},
    ({ text, ...asked }) => ({
      isDestructive: true,
      ...asked,
      fields: (
        <>
          {asked.shows && <Details entries={Object.entries(asked.shows(asked.subject))} />}
          {inParagraph(text)}
        </>
      ),
    }),
  );
}

function controllerOf<
  Request extends object,
  Description extends Omit<FormParts, 'text'> & Work<Request, unknown> & Partial<Version<unknown>>,
>(
  permission: FormPermission,
  type: Type<Request>,
  options: FormPageOptions,
  partsOf: (description: Description) => FormParts,
) {
  const { show, send } = 'show' in permission ? permission : { show: permission, send: permission };
  const pageOf = (description: Description): Page =>
    formPage(send, type, options, partsOf(description), description.shows?.(description.subject));
  abstract class FormController {
    /** Returns what the page shows and does. Called once per request: when the page is opened, and when the form is sent. */
    abstract describe(visit: PageVisit<string>): Description | Promise<Description>;

    @Get()
    @DashboardPage(show, undefined, options.opener)
    async show(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      return pageOf(await this.describe(visit));
    }

    @Post()
    @DashboardAction(send, options)
    async send(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      const description = await this.describe(visit);
      const { shows, next } = description;
      let { subject } = description;
      return submitted(
        async () => {
          const check = (current: unknown): void => {
            // If the form is refused, it is about to change this.
            subject = current;
            if (shows) requireUnchanged(visit.form, shows(current));
          };
          // Before what takes long. It is checked again while the subject is locked.
          check(subject);
          const request = requestFrom(type, visit.form, environmentFor(type, visit));
          const result = await description.perform(request, check);
          return next === undefined ? (result as PageResponse) : { redirectTo: next };
        },
        () => pageOf({ ...description, subject }),
      );
    }
  }
  return FormController;
}

function formPage(
  permission: DashboardPermission,
  type: Type<object>,
  { hasFiles = false }: FormOptions,
  parts: FormParts,
  version: ShownValues | undefined,
): Page {
  const { title, parent, messages, formsLeaveSite, action } = parts;
  const { text, fields, values = {}, button, isDestructive } = parts;
  const form = (
    <Form hasFiles={hasFiles} {...(action && { action })}>
      {version && <Seen values={version} />}
      <RequestOfForm.Provider value={{ type, values }}>{fields}</RequestOfForm.Provider>
      <SubmitButton isDestructive={isDestructive}>{button}</SubmitButton>
    </Form>
  );
  return {
    title,
    parent,
    messages,
    formsLeaveSite,
    content: (
      <>
        <FormProblem />
        {inParagraph(text)}
        {permission === ANY_USER ? (
          form
        ) : (
          <Allowed permission={permission} otherwise={parts.otherwise}>
            {form}
          </Allowed>
        )}
        {parts.after}
      </>
    ),
  };
}
