import { Controller, Get, Inject, Post } from '@nestjs/common';
import { pathAndQuery } from '../../infrastructure/http/index.js';
import {
  ANY_USER,
  Checkboxes,
  ConfirmPage,
  DashboardAction,
  DashboardPage,
  FilteredLists,
  FormProblem,
  HiddenField,
  Link,
  MAX_FILTER_NAME_LENGTH,
  requestFrom,
  SaveFiltersForm,
  submitted,
  Visit,
  UNCHANGEABLE,
  type Confirmation,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { TextField } from '../../infrastructure/validation/index.js';
import { SavedFiltersService, type ListAddress } from './saved-filters.service.js';

class SaveFiltersRequest {
  @TextField({ in: 'form', max: MAX_FILTER_NAME_LENGTH })
  filter_name!: string;
}

@Controller('dashboard/saved-filters')
class SavedFiltersPage {
  constructor(
    private readonly savedFilters: SavedFiltersService,
    private readonly lists: FilteredLists,
  ) {}

  /** The form is on every list with filters, and shown as a page only if it was refused. */
  @Post()
  @DashboardAction(ANY_USER)
  save(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const page = form.get('page') ?? '';
    const address = addressOf(page);
    return submitted(
      async () => {
        const { filter_name: name } = requestFrom(SaveFiltersRequest, form);
        const { filters, isReplaced } = await this.savedFilters.save(actor, name, address);
        const done = isReplaced ? 'filters_replaced' : 'filters_saved';
        return { redirectTo: pathOf({ ...address, filters: new URLSearchParams(filters) }, done) };
      },
      () => ({
        title: 'Save filters',
        content: (
          <>
            <FormProblem />
            {this.lists.at(address.list) ? (
              <>
                <SaveFiltersForm page={page} />
                <Link to={page}>Back to the list</Link>
              </>
            ) : null}
          </>
        ),
      }),
    );
  }

  /** Leads to the list. Links with the filters themselves would make its page large. */
  @Get('open/:id')
  @DashboardPage(ANY_USER)
  async open(@Visit() { actor, params }: PageVisit<'id'>): Promise<PageResponse> {
    const { list, filters } = await this.savedFilters.get(actor.userId, params.id);
    return { redirectTo: pathOf({ list, filters: new URLSearchParams(filters) }) };
  }
}

@Controller('dashboard/saved-filters/delete')
class DeleteFiltersPage extends ConfirmPage(ANY_USER) {
  @Inject() private readonly savedFilters!: SavedFiltersService;

  /** @param visit.query `page`: the address of the list, which is a field of the form when it is sent */
  async describe({ actor: { userId }, query, form }: PageVisit): Promise<Confirmation> {
    const address = addressOf(form.get('page') ?? String(query['page']));
    const page = pathOf(address);
    const saved = await this.savedFilters.in(userId, address.list);
    return {
      title: 'Delete saved filters',
      ...UNCHANGEABLE,
      parent: { title: 'Back to the list', path: page },
      text: (
        <>
          <HiddenField name="page" value={page} />
          <Checkboxes
            name="ids[]"
            legend="Saved filters of the list"
            hint="The list and its entries stay as they are."
            options={saved.map(({ id, name }) => ({ value: id, label: name }))}
            values={[]}
          />
        </>
      ),
      button: 'Delete selected',
      perform: () => this.savedFilters.remove(userId, address.list, form.all('ids[]')),
      next: pathOf(address, 'filters_deleted'),
    };
  }
}

/** Returns the address of the list, with a message. */
function pathOf({ list, filters }: ListAddress, done?: string): string {
  const query = new URLSearchParams(filters);
  query.delete('done');
  if (done !== undefined) query.set('done', done);
  return query.size === 0 ? list : `${list}?${query}`;
}

/** Only a path that is that of a list leads anywhere (`FilteredLists`). */
function addressOf(page: string): ListAddress {
  const { path, query } = pathAndQuery(page);
  return { list: path, filters: query };
}

export const SAVED_FILTER_PAGES = [SavedFiltersPage, DeleteFiltersPage];
