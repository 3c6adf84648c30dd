import { Get, Post, type Type } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import type { DashboardOperationName } from '../auth/index.js';
import type { FormOptions } from '../http/index.js';
import { fieldOf, validated } from '../validation/index.js';
import type { Page, PageResponse } from './page.js';
import { DashboardAction, DashboardPage, Visit, type PageVisit } from './page-route.decorator.js';
import { FormProblem } from './parts/elements.js';
import { Form, RequestOfForm, Seen, SubmitButton } from './parts/form.js';
import { requireUnchanged, submitted, type ShownValues } from './submitted.js';

/** What a form does: either it leads to a path (`next`), or `perform` returns what is shown. */
type Performed<Request> =
  | {
      readonly perform: (request: Request) => Promise<unknown>;
      /** Where the form leads. The parameter `done` names the message that is shown there. */
      readonly next: string;
    }
  | { readonly perform: (request: Request) => Promise<PageResponse>; readonly next?: undefined };

interface DescriptionOfForm {
  readonly title: string;
  /** The page that the form belongs to, where *Cancel* leads. */
  readonly parent: NonNullable<Page['parent']>;
  /** The label of the button: what happens, such as "Delete endpoint". */
  readonly button: string;
  /**
   * The current values of what the form changes, as the page shows them. If they are others than when the form was opened, the form
   * is refused, so that it cannot undo the change of somebody else.
   */
  readonly version?: ShownValues;
}

/** A page with a form. */
export type FormDescription<Request = object> = DescriptionOfForm &
  Performed<Request> & {
    /** Above the form. */
    readonly text?: ComponentChildren;
    /** `TextField`, `SelectField` and so on. Whether they are required, their types and limits follow from the request's class. */
    readonly fields?: ComponentChildren;
    /** What the fields show when the form is opened, by their names. */
    readonly values?: object;
    /** Below the form. */
    readonly after?: ComponentChildren;
  };

/** A page that only asks before an action. */
export type Confirmation<Request = object> = DescriptionOfForm &
  Performed<Request> & {
    /** What the action does, and further fields. */
    readonly text: ComponentChildren;
    /** Whether the action cannot be undone. Defaults to true. */
    readonly isDestructive?: boolean;
  };

/** The request of a form that only has a button. */
class WithoutFields {}

/**
 * A controller with a form, shown with GET and sent with POST. It has the permission, request limit and audit log entries of the
 * operation. If the request is refused for a reason that the user can correct, the form is shown again with it.
 *
 * @param operation that the form performs
 * @param type the class of the request, which validates the fields and declares what they accept; without it, there are no fields
 */
export function FormPage<Request extends object>(
  operation: DashboardOperationName,
  type: Type<Request> = WithoutFields as Type<Request>,
  options: FormOptions = {},
) {
  return controllerOf(operation, type, options, (description: FormDescription<Request>) =>
    formPage(type, options, description),
  );
}

/** A controller that asks before an action, with GET, and performs it, with POST. See `FormPage`. */
export function ConfirmPage<Request extends object>(
  operation: DashboardOperationName,
  type: Type<Request> = WithoutFields as Type<Request>,
) {
  return controllerOf(operation, type, {}, ({ text, isDestructive = true, ...form }: Confirmation<Request>) =>
    formPage(type, {}, { ...form, fields: text, isDestructive }),
  );
}

function controllerOf<Request extends object, Description extends DescriptionOfForm & Performed<Request>>(
  operation: DashboardOperationName,
  type: Type<Request>,
  options: FormOptions,
  pageOf: (description: Description) => Page,
) {
  abstract class FormController {
    /** Returns what the page shows and does, also after its form was refused. */
    abstract describe(visit: PageVisit<string>): Description | Promise<Description>;

    @Get()
    @DashboardPage(operation)
    async show(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      return pageOf(await this.describe(visit));
    }

    @Post()
    @DashboardAction(operation, options)
    async send(@Visit() visit: PageVisit<string>): Promise<PageResponse> {
      const description = await this.describe(visit);
      return submitted(
        () => perform(visit, description, type),
        () => this.show(visit),
      );
    }
  }
  return FormController;
}

async function perform<Request extends object>(
  visit: PageVisit,
  { version, perform: work, next }: DescriptionOfForm & Performed<Request>,
  type: Type<Request>,
): Promise<PageResponse> {
  if (version) requireUnchanged(visit.form, version);
  const result = await work(requestIn(visit, type));
  return next === undefined ? (result as PageResponse) : { redirectTo: next };
}

/** Empty fields are absent. A request that names an environment gets that of the page. */
function requestIn<Request extends object>(visit: PageVisit, type: Type<Request>): Request {
  const hasEnvironment = fieldOf(type.prototype as object, 'environment') !== undefined;
  return validated(type, {
    ...visit.form.values(),
    ...(hasEnvironment && { environment: visit.environment }),
  });
}

type ShownForm<Request> = Omit<FormDescription<Request>, 'perform' | 'next'> & {
  readonly isDestructive?: boolean;
};

function formPage<Request extends object>(
  type: Type<Request>,
  { hasFiles = false }: FormOptions,
  { title, parent, text, fields, button, version, values, after, isDestructive = false }: ShownForm<Request>,
): Page {
  return {
    title,
    parent,
    content: (
      <>
        <FormProblem />
        {text}
        <Form hasFiles={hasFiles}>
          {version && <Seen values={version} />}
          <RequestOfForm.Provider value={{ type, ...(values && { values }) }}>
            {fields}
          </RequestOfForm.Provider>
          <SubmitButton isDestructive={isDestructive}>{button}</SubmitButton>
        </Form>
        {after}
      </>
    ),
  };
}
