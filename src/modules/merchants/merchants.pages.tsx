import { Readable } from 'node:stream';
import { Controller, Get, Inject, Post, type StreamableFile } from '@nestjs/common';
import {
  Allowed,
  Badge,
  ButtonLink,
  DashboardAction,
  DashboardExport,
  dashboardPath,
  exportFile,
  Filter,
  FilterChoice,
  Form,
  HiddenField,
  inEachEnvironment,
  ListPage,
  pathWith,
  shortened,
  Visit,
  type ListDescription,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { CursorField } from '../../infrastructure/paging/index.js';
import { EnumField, TextField } from '../../infrastructure/validation/index.js';
import { matchKeys } from './match-key.js';
import { parseMerchantId } from './merchant-catalog.service.js';
import type { MerchantResponse } from './merchants.dto.js';
import { MerchantsService } from './merchants.service.js';

class MerchantsQuery {
  /** A part of the name. */
  @TextField({ in: 'form', required: false, max: 256 })
  name?: string;

  @EnumField(['shown', 'hidden'], { in: 'form', required: false })
  status?: 'shown' | 'hidden';

  @CursorField('The ID of the last merchant before the page.')
  cursor?: string;
}

/** The parameters of the list, which forms repeat, so that they lead back to the same place. `trail` has the pages before. */
const PARAMETERS = ['name', 'status', 'cursor', 'trail'];
/** One form for all rows, whose buttons say where it is sent: a form in each row would double the size of the page. */
const FORM = 'visibility';

@Controller(inEachEnvironment('merchants'))
export class MerchantsPage extends ListPage('listMerchants', MerchantsQuery) {
  @Inject() private readonly merchants!: MerchantsService;

  describe({ actor, environment, query }: PageVisit): ListDescription<MerchantResponse, MerchantsQuery> {
    const path = dashboardPath(environment, 'merchants');
    return {
      title: 'Merchants',
      about: `Your users do not see hidden merchants in lists of the SDK (${environment} only).`,
      actions: (
        <ButtonLink operation="exportMerchants" to={`${path}/export`} kind="second">
          Export all as CSV
        </ButtonLink>
      ),
      messages: {
        hidden: `The merchant is hidden in the ${environment} environment.`,
        shown: `The merchant is shown in the ${environment} environment.`,
      },
      filters: (
        <>
          <Filter name="name" type="search" label="Name" />
          <FilterChoice
            name="status"
            label="Status"
            options={[
              { value: 'shown', label: 'Shown' },
              { value: 'hidden', label: 'Hidden' },
            ]}
          />
        </>
      ),
      rows: async ({ name, status, cursor }, limit) => {
        const filters = {
          matchKeys: name === undefined ? undefined : matchKeys(name),
          hidden: status === undefined ? undefined : status === 'hidden',
          after: cursor === undefined ? undefined : parseMerchantId(cursor),
        };
        const scope = { organizationId: actor.organizationId, environment };
        const { entries, last } = await this.merchants.page(scope, filters, limit);
        return {
          data: entries,
          next_cursor: last ? String(last.id) : null,
          above: (
            <Form action={path} id={FORM}>
              {PARAMETERS.filter((each) => query[each]).map((each) => (
                <HiddenField key={each} name={each} value={String(query[each])} />
              ))}
            </Form>
          ),
        };
      },
      columns: [
        { title: 'Name', kind: 'main', cell: ({ id, name }) => <span id={`merchant-${id}`}>{name}</span> },
        { title: 'ID', kind: 'number', cell: ({ id }) => id },
        {
          title: 'Status',
          kind: 'status',
          cell: ({ hidden }) => (hidden ? <Badge tone="soft">Hidden</Badge> : 'Shown'),
        },
        {
          title: 'Actions',
          kind: 'buttons',
          cell: ({ id, name, hidden }) => (
            <Allowed operation={hidden ? 'activateMerchant' : 'hideMerchant'}>
              <button class="second" form={FORM} formaction={`${path}/${id}/${hidden ? 'activate' : 'hide'}`}>
                {hidden ? 'Show' : 'Hide'}
                <span class="unseen">{` ${shortened(name)}`}</span>
              </button>
            </Allowed>
          ),
        },
      ],
      empty: {
        title: 'No merchant matches the filters',
        text: 'Search for a part of the name, or clear the filters.',
      },
    };
  }

  @Get('export')
  @DashboardExport('exportMerchants')
  async export(@Visit() { actor, environment }: PageVisit): Promise<StreamableFile> {
    return exportFile({
      format: 'csv',
      name: `merchants-${environment}`,
      organizationName: actor.organizationName,
      columns: ['id', 'name', 'hidden'],
      rows: Readable.from(await this.merchants.list(actor, environment)),
    });
  }

  @Post(':id/hide')
  @DashboardAction('hideMerchant')
  hide(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return this.setHidden(visit, true);
  }

  @Post(':id/activate')
  @DashboardAction('activateMerchant')
  activate(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return this.setHidden(visit, false);
  }

  /** Leads to the page that the form was on, with a message and the anchor of the merchant. */
  private async setHidden(visit: PageVisit<'id'>, hidden: boolean): Promise<PageResponse> {
    const { actor, environment, params, form } = visit;
    const { id } = await this.merchants.setHidden(actor, params.id, environment, hidden);
    const query = Object.fromEntries(PARAMETERS.map((name) => [name, form.get(name)]));
    const path = pathWith(dashboardPath(environment, 'merchants'), {}, query);
    const done = hidden ? 'hidden' : 'shown';
    return { redirectTo: `${path}${path.includes('?') ? '&' : '?'}done=${done}#merchant-${id}` };
  }
}
