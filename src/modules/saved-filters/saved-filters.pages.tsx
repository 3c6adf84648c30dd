import {
  confirmationPage,
  FormProblem,
  Link,
  pathWith,
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

export function deleteFiltersPage({ id, name, list, filters }: SavedFilter): Page {
  return confirmationPage({
    title: `Delete “${name}”`,
    parent: { title: 'Back to the list', path: pathWith(list, filters, {}) },
    action: `${SAVED_FILTERS_PATH}/${id}/delete`,
    button: 'Delete saved filters',
    children: <p>The list and its entries stay as they are. Only the saved filters are deleted.</p>,
  });
}
