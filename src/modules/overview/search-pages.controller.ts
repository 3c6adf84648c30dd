import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  DashboardPage,
  inEachEnvironment,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { searchPage } from './search.pages.js';
import { MAX_SEARCH_LENGTH, SearchService } from './search.service.js';

@Controller(inEachEnvironment('search'))
export class SearchPagesController {
  constructor(private readonly search: SearchService) {}

  /** @param query.q the text; what is too long is cut off */
  @Get()
  @DashboardPage('listRequestLogs')
  async find(@Visit() visit: PageVisit, @Req() { socket }: Request): Promise<PageResponse> {
    const { q } = visit.query;
    const text = typeof q === 'string' ? q.replaceAll('\0', '').trim().slice(0, MAX_SEARCH_LENGTH) : '';
    if (text === '') return searchPage('');
    return searchPage(text, await this.search.find(visit, text, () => socket.destroyed));
  }
}
