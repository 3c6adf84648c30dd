import { Get, Post, type Type } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import type { DashboardOperationName } from '../auth/index.js';
import type { FormOptions } from '../http/index.js';
import type { Page, PageResponse } from './page.js';
import {
  ANY_USER,
  DashboardAction,
  DashboardPage,
  environmentFor,
  Visit,
  type PageOperation,
  type PageVisit,
} from './page-route.decorator.js';
import { Allowed, FormProblem, inParagraph } from './parts/elements.js';
import { Form, RequestOfForm, Seen, SubmitButton } from './parts/form.js';
import { requestFrom, requireUnchanged, submitted, type ShownValues } from './submitted.js';

interface FormParts extends Pick<Page, 'title' | 'messages' | 'formsLeaveSite'> {
  /** The page that the form belongs to, where *Cancel* leads. */
  readonly parent: NonNullable<Page['parent']>;
  /** Above the form. */
  readonly text?: ComponentChildren;
  /** `TextField`, `SelectField` and so on. Whether they are required, their types and limits follow from the request's class. */
  readonly fields?: ComponentChildren;
  /** What the fields show when the form is opened, by their names. */
  readonly values?: object;
  /**
   * The current values of what the form changes, as the page shows them. If they are others than when the form was opened, the form
   * is refused, so that it cannot undo the change of somebody else.
   */
  readonly version?: ShownValues;
  /** The label of the button: what happens, such as "Delete endpoint". */
  readonly button: string;
  /** Whether the action cannot be undone. Defaults to false; for a `Confirmation`, to true. */
  readonly isDestructive?: boolean;
  /** Below the form. */
  readonly after?: ComponentChildren;
  /** In place of the form, for users who may open the page but not send the form. */
  readonly otherwise?: ComponentChildren;
}

/** What sending the form does. It leads to a path (`next`), or `perform` returns the response. */
type Work<Request> =
  | {
      readonly perform: (request: Request) => Promise<unknown>;
      /** The parameter `done` names the message that the page at this path shows. */
      readonly next: string;
    }
  | { readonly perform: (request: Request) => Promise<PageResponse>; readonly next?: undefined };

export type FormDescription<Request = object> = FormParts & Work<Request>;

/** What a page that only asks before an action shows, and what the action does. */
export type Confirmation<Request = object> = Omit<FormParts, 'fields' | 'text'> &
  Work<Request> & {
    /** What the action does, and further fields. */
    readonly text: ComponentChildren;
  };

/** The operation that a form performs. A page of settings can be shown to users who may not change them. */
type FormOperation =
  PageOperation | { readonly show: DashboardOperationName; readonly send: DashboardOperationName };

/** The request of a form that only has a button. */
class WithoutFields {}

/**
 * A controller with a form, shown with GET and sent with POST. It has the permission, request limit and audit log entries of the
 * operation. If the request is refused for a reason that the user can correct, the form is shown again with it.
 *
 * @param type the class of the request, which validates the fields and declares what they accept; without it, there are no fields
 */
export function FormPage<Request extends object>(
  operation: FormOperation,
  type: Type<Request> = WithoutFields as Type<Request>,
  options: FormOptions = {},
) {
  return controllerOf<Request, FormDescription<Request>>(operation, type, options, (form) => form);
}

/** A controller that asks before an action, with GET, and performs it, with POST. See `FormPage`. */
export function ConfirmPage<Request extends object>(
  operation: PageOperation,
  type: Type<Request> = WithoutFields as Type<Request>,
) {
  return controllerOf<Request, Confirmation<Request>>(operation, type, {}, ({ text, ...asked }) => ({
    isDestructive: true,
    ...asked,
    fields: inParagraph(text),
  }));
}

function controllerOf<Request extends object, Description extends Omit<FormParts, 'text'> & Work<Request>>(
  operation: FormOperation,
  type: Type<Request>,
  options: FormOptions,
  partsOf: (description: Description) => FormParts,
) {
  const { show, send } = typeof operation === 'string' ? { show: operation, send: operation } : operation;
  abstract class FormController {
    /** Returns what the page shows and does. Also called when the form is sent, and once more if it is refused. */
    abstract describe(visit: PageVisit<string>): Description | Promise<Description>;

    @Get()
    @DashboardPage(show)
    async show(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      return formPage(send, type, options, partsOf(await this.describe(visit)));
    }

    @Post()
    @DashboardAction(send, options)
    async send(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      const { version, perform, next } = await this.describe(visit);
      return submitted(
        async () => {
          if (version) requireUnchanged(visit.form, version);
          const result = await perform(requestFrom(type, visit.form, environmentFor(type, visit)));
          return next === undefined ? (result as PageResponse) : { redirectTo: next };
        },
        () => this.show(visit),
      );
    }
  }
  return FormController;
}

function formPage(
  operation: PageOperation,
  type: Type<object>,
  { hasFiles = false }: FormOptions,
  parts: FormParts,
): Page {
  const { title, parent, messages, formsLeaveSite } = parts;
  const { text, fields, values = {}, version, button, isDestructive } = parts;
  const form = (
    <Form hasFiles={hasFiles}>
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
        {operation === ANY_USER ? (
          form
        ) : (
          <Allowed operation={operation} otherwise={parts.otherwise}>
            {form}
          </Allowed>
        )}
        {parts.after}
      </>
    ),
  };
}
