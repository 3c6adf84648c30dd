import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  FilteredLists,
  FormBody,
  PageRoute,
  pathWith,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { SaveFiltersRequest } from './saved-filters.dto.js';
import { deleteFiltersPage, saveFiltersPage } from './saved-filters.pages.js';
import { SavedFiltersService, type ListAddress } from './saved-filters.service.js';

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
        return { redirectTo: `${pathWith(address.list, filters, {})}&done=${done}` };
      },
      () => saveFiltersPage(this.lists.at(address.list) && page),
    );
  }

  @Get(':id/delete')
  @PageRoute({ login: true })
  async startDeleting(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return deleteFiltersPage(await this.savedFilters.get(actor, id));
  }

  @Post(':id/delete')
  @PageRoute({ login: true, form: true })
  async delete(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const { list } = await this.savedFilters.get(actor, id);
    await this.savedFilters.remove(actor, id);
    return { redirectTo: `${list}?done=filters_deleted` };
  }
}

/** Only a path that is that of a list leads anywhere (`FilteredLists`). */
function addressOf(page: string): ListAddress {
  const [list = '', query] = page.split('?', 2);
  return { list, filters: new URLSearchParams(query) };
}
