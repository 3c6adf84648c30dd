import { Readable } from 'node:stream';
import { Controller, Get, Inject, Post, type StreamableFile } from '@nestjs/common';
import {
  Allowed,
  Badge,
  ButtonLink,
  ConfirmPage,
  DashboardAction,
  DashboardExport,
  dashboardPath,
  exportFile,
  Filter,
  FilterChoice,
  Form,
  HiddenField,
  inEachEnvironment,
  isolated,
  ListPage,
  pathWith,
  SELECTED,
  shortened,
  UNCHANGEABLE,
  Visit,
  type Confirmation,
  type ListDescription,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { CursorField } from '../../infrastructure/paging/index.js';
import { EnumField, TextField } from '../../infrastructure/validation/index.js';
import { matchKeys } from './match-key.js';
import type { MerchantResponse } from './merchants.dto.js';
import { MerchantsService } from './merchants.service.js';
import { MERCHANT_PERMISSIONS } from './merchants.capability.js';

class MerchantsQuery {
  /** A part of the name. */
  @TextField({ in: 'form', required: false, max: 256 })
  name?: string;

  @EnumField(['shown', 'hidden'], { in: 'form', required: false })
  status?: 'shown' | 'hidden';

  @CursorField('The position of the last merchant before the page.')
  cursor?: string;
}

/** The parameters of the list, which forms repeat, so that they lead back to the same place. `trail` has the pages before. */
const PARAMETERS = ['name', 'status', 'cursor', 'trail'];
/** One form for all rows, whose buttons say where it is sent: a form in each row would double the size of the page. */
const FORM = 'visibility';

/** The maximum number of merchants to hide at once: a page of the list. */
const MAX_SELECTED = 50;

/** Asks before several merchants are hidden, which the list has selected. */
@Controller(inEachEnvironment('merchants/hide'))
export class HideMerchantsPage extends ConfirmPage(MERCHANT_PERMISSIONS.hideMerchant) {
  @Inject() private readonly merchants!: MerchantsService;

  async describe({ actor, environment, query, form }: PageVisit): Promise<Confirmation> {
    const parent = { title: 'Merchants', path: dashboardPath(environment, 'merchants') };
    const selected = await this.merchants.named(selectedIn(form.get(SELECTED) ?? query[SELECTED]));
    const ids = selected.map(({ id }) => String(id));
    if (ids.length === 0)
      return {
        title: 'No merchant is selected',
        parent,
        ...UNCHANGEABLE,
        text: 'Select merchants in the list.',
        button: 'Back to the list',
        isDestructive: false,
        perform: () => Promise.resolve(),
        next: parent.path,
      };
    const merchants = ids.length === 1 ? '1 merchant' : `${ids.length} merchants`;
    const names = selected.map(({ name }) => isolated(name)).join(', ');
    return {
      title: `Hide ${merchants} in ${environment}?`,
      parent,
      ...UNCHANGEABLE,
      text: (
        <>
          <p>{`Your users cannot choose them until you show them again: ${names}.`}</p>
          <HiddenField name={SELECTED} value={ids.join(',')} />
        </>
      ),
      button: `Hide ${merchants}`,
      perform: () => this.merchants.hideAll(actor, ids, environment),
      next: `${parent.path}?done=all_hidden`,
    };
  }
}

/** Returns the IDs in a parameter, which may be repeated and may contain several IDs. */
function selectedIn(given: unknown): string[] {
  const ids = [given]
    .flat()
    .flatMap((each) => (typeof each === 'string' ? each.split(',') : []))
    .filter((id) => /^[1-9]\d{0,8}$/.test(id));
  return [...new Set(ids)].slice(0, MAX_SELECTED);
}

@Controller(inEachEnvironment('merchants'))
export class MerchantsPage extends ListPage(MERCHANT_PERMISSIONS.listMerchants, MerchantsQuery) {
  @Inject() private readonly merchants!: MerchantsService;

  describe({ actor, environment, query }: PageVisit): ListDescription<MerchantResponse, MerchantsQuery> {
    const path = dashboardPath(environment, 'merchants');
    return {
      title: 'Merchants',
      about: `Your users do not see hidden merchants in lists of the SDK (${environment} only).`,
      actions: (
        <ButtonLink permission={MERCHANT_PERMISSIONS.exportMerchants} to={`${path}/export`} kind="second">
          Export all as CSV
        </ButtonLink>
      ),
      messages: {
        all_hidden: `The selected merchants are hidden in the ${environment} environment.`,
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
        };
        const scope = { organizationId: actor.organizationId, environment };
        return {
          ...(await this.merchants.page(scope, filters, { cursor, limit })),
          selection: {
            permission: MERCHANT_PERMISSIONS.hideMerchant,
            action: `${path}/hide`,
            label: 'Hide',
            things: ['merchant', 'merchants'],
            selectable: ({ id, name, hidden }) => (hidden ? undefined : { value: String(id), of: name }),
          },
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
          kind: 'state',
          cell: ({ hidden }) => (hidden ? <Badge tone="soft">Hidden</Badge> : 'Shown'),
        },
        {
          title: 'Actions',
          kind: 'buttons',
          cell: ({ id, name, hidden }) => (
            <Allowed
              permission={hidden ? MERCHANT_PERMISSIONS.activateMerchant : MERCHANT_PERMISSIONS.hideMerchant}
            >
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
  @DashboardExport(MERCHANT_PERMISSIONS.exportMerchants)
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
  @DashboardAction(MERCHANT_PERMISSIONS.hideMerchant)
  hide(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return this.setHidden(visit, true);
  }

  @Post(':id/activate')
  @DashboardAction(MERCHANT_PERMISSIONS.activateMerchant)
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
