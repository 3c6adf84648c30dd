import type { FormFields } from '../../infrastructure/http/index.js';

/** The e-mail address of a form, in the spelling by which users are found; undefined when it is blank. */
export function emailFromForm(form: FormFields): string | undefined {
  return form.get('email')?.trim().toLowerCase() || undefined;
}
