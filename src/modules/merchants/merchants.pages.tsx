import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  dashboardPath,
  Done,
  EmptyState,
  Filter,
  FilterChoice,
  FilterForm,
  Form,
  Pagination,
  pathWith,
  Results,
  Table,
  usePage,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { MerchantResponse } from './merchants.dto.js';

const STATUSES = [
  { value: 'shown', label: 'Shown' },
  { value: 'hidden', label: 'Hidden' },
];
/** The parameters of the list, which forms repeat, so that they lead back to the same place. `trail` has the pages before. */
const PARAMETERS = ['name', 'status', 'cursor', 'trail'];

function merchantsPath(environment: PlatformEnvironment, ...segments: readonly string[]): string {
  return dashboardPath(environment, 'merchants', ...segments);
}

/** Returns the path of the page that a form was on, with a message and the anchor of the merchant. */
export function listPath(
  environment: PlatformEnvironment,
  form: FormFields,
  done: string,
  { id }: MerchantResponse,
): string {
  const query = Object.fromEntries(PARAMETERS.map((name) => [name, form.get(name)]));
  const path = pathWith(merchantsPath(environment), {}, query);
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}#merchant-${id}`;
}

export function merchantsPage(
  environment: PlatformEnvironment,
  merchants: readonly MerchantResponse[],
  nextCursor: string | null,
): Page {
  return {
    title: 'Merchants',
    about: `Your users do not see hidden merchants in lists of the SDK (${environment} only).`,
    actions: (
      <Allowed operation="exportMerchants">
        <ButtonLink to={merchantsPath(environment, 'export')} kind="second">
          Export all as CSV
        </ButtonLink>
      </Allowed>
    ),
    content: (
      <>
        <Done
          messages={{
            hidden: `The merchant is hidden in the ${environment} environment.`,
            shown: `The merchant is shown in the ${environment} environment.`,
          }}
        />
        <FilterForm>
          <Filter name="name" type="search" label="Name" />
          <FilterChoice name="status" label="Status" options={STATUSES} />
        </FilterForm>
        <Results>
          {merchants.length === 0 ? (
            <EmptyState title="No merchant matches the filters">
              <p>Search for a part of the name, or clear the filters.</p>
            </EmptyState>
          ) : (
            <Merchants merchants={merchants} />
          )}
          <Pagination nextCursor={nextCursor} />
        </Results>
      </>
    ),
  };
}

/** One form for all rows, whose buttons say where it is sent: a form in each row would double the size of the page. */
function Merchants({ merchants }: { readonly merchants: readonly MerchantResponse[] }): VNode {
  const { environment, query } = usePage();
  return (
    <Form action={merchantsPath(environment)}>
      {PARAMETERS.filter((name) => query[name]).map((name) => (
        <input key={name} type="hidden" name={name} value={query[name]} />
      ))}
      <Table
        caption="Merchants"
        rows={merchants}
        keyOf={({ id }) => id}
        columns={[
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
                <button
                  class="second"
                  formaction={merchantsPath(environment, String(id), hidden ? 'activate' : 'hide')}
                >
                  {hidden ? 'Show' : 'Hide'}
                  <span class="unseen">{` ${name}`}</span>
                </button>
              </Allowed>
            ),
          },
        ]}
      />
    </Form>
  );
}
