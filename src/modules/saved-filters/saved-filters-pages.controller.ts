import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  FilteredLists,
  FormBody,
  MAX_FILTER_NAME_LENGTH,
  PageRoute,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { TextField } from '../../infrastructure/validation/index.js';
import { deleteFiltersPage, saveFiltersPage } from './saved-filters.pages.js';
import { SavedFiltersService, type ListAddress } from './saved-filters.service.js';

class SaveFiltersRequest {
  @TextField({
    max: MAX_FILTER_NAME_LENGTH,
    description: 'Name of the saved filters.',
    example: 'Failed calls of June',
  })
  filter_name!: string;
}

@Controller('dashboard/saved-filters')
export class SavedFiltersPagesController {
  constructor(
    private readonly savedFilters: SavedFiltersService,
    private readonly lists: FilteredLists,
  ) {}

  @Post()
  @PageRoute({ login: true, form: true })
  save(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const page = form.get('page') ?? '';
    const address = addressOf(page);
    return submitted(
      async () => {
        const { filter_name: name } = requestFrom(SaveFiltersRequest, form);
        const { filters, isReplaced } = await this.savedFilters.save(actor, name, address);
        const done = isReplaced ? 'filters_replaced' : 'filters_saved';
        return { redirectTo: pathOf({ ...address, filters: new URLSearchParams(filters) }, done) };
      },
      () => saveFiltersPage(this.lists.at(address.list) && page),
    );
  }

  @Get('delete')
  @PageRoute({ login: true })
  startDeleting(
    @CurrentActor() { userId }: DashboardActor,
    @Query('page') page: unknown,
  ): Promise<PageResponse> {
    return this.deletePage(userId, addressOf(String(page)));
  }

  @Post('delete')
  @PageRoute({ login: true, form: true })
  delete(@CurrentActor() { userId }: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const address = addressOf(form.get('page') ?? '');
    return submitted(
      async () => {
        await this.savedFilters.remove(userId, address.list, form.all('ids[]'));
        return { redirectTo: pathOf(address, 'filters_deleted') };
      },
      () => this.deletePage(userId, address),
    );
  }

  /** Leads to the list. Links with the filters themselves would make its page large. */
  @Get('open/:id')
  @PageRoute({ login: true })
  async open(@CurrentActor() { userId }: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const { list, filters } = await this.savedFilters.get(userId, id);
    return { redirectTo: pathOf({ list, filters: new URLSearchParams(filters) }) };
  }

  private async deletePage(userId: string, address: ListAddress): Promise<PageResponse> {
    return deleteFiltersPage(await this.savedFilters.in(userId, address.list), pathOf(address));
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
  const [list = '', query] = page.split('?', 2);
  return { list, filters: new URLSearchParams(query) };
}
