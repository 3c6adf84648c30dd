import {
  Checkboxes,
  confirmationPage,
  FormProblem,
  Link,
  SAVED_FILTERS_PATH,
  SaveFiltersForm,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { SavedFilter } from './saved-filter.entity.js';

/** @param page the address of a list of this service, or undefined */
export function saveFiltersPage(page: string | undefined): Page {
  return {
    title: 'Save filters',
    content: (
      <>
        <FormProblem />
        {page === undefined ? null : (
          <>
            <SaveFiltersForm page={page} />
            <Link to={page}>Back to the list</Link>
          </>
        )}
      </>
    ),
  };
}

/** @param page the address of the list */
export function deleteFiltersPage(saved: readonly SavedFilter[], page: string): Page {
  return confirmationPage({
    title: 'Delete saved filters',
    parent: { title: 'Back to the list', path: page },
    action: `${SAVED_FILTERS_PATH}/delete`,
    button: 'Delete selected',
    children: (
      <>
        <input type="hidden" name="page" value={page} />
        <Checkboxes
          name="ids[]"
          legend="Saved filters of the list"
          hint="The list and its entries stay as they are."
          options={saved.map(({ id, name }) => ({ value: id, label: name }))}
          values={[]}
        />
      </>
    ),
  });
}
