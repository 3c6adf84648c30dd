import { Controller, Get, Module } from '@nestjs/common';
import {
  ActionButton,
  Badge,
  BarChart,
  ButtonLink,
  Checkboxes,
  CodeBlock,
  Details,
  EmptyState,
  FileField,
  FilterForm,
  Form,
  LineChart,
  Moment,
  Notice,
  PageRoute,
  Pagination,
  RelativeTime,
  Results,
  SegmentedBar,
  SelectField,
  SubmitButton,
  Table,
  TextArea,
  TextField,
  Tiles,
  TimeField,
  type PageResponse,
} from '../../../src/infrastructure/pages/index.js';

const HERE = '/dashboard/parts';
const TIME = new Date('2026-01-31T08:15:30.123Z');
const OPTIONS = [
  { value: '', label: 'Any' },
  { value: 'api', label: 'API call' },
  { value: 'webhook', label: 'Webhook delivery', hint: 'An attempt to deliver an event' },
];
const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);
const wave = (hour: number): number => Math.round(500 + 400 * Math.sin(hour / 4));

@Controller('dashboard/parts')
class PartsController {
  @Get()
  @PageRoute({ login: true })
  show(): PageResponse {
    return {
      title: 'Parts of pages',
      parent: { title: 'Overview', path: '/dashboard' },
      actions: (
        <>
          <ButtonLink to={HERE}>First action</ButtonLink>
          <ButtonLink to={HERE} kind="second">
            Second action
          </ButtonLink>
          <ButtonLink to={HERE} kind="danger">
            Dangerous action
          </ButtonLink>
        </>
      ),
      content: (
        <>
          <h2>Notices and badges</h2>
          <Notice kind="good">The endpoint was created.</Notice>
          <Notice kind="bad">This URL is not public.</Notice>
          <p>
            <Badge tone="good">Enabled</Badge> <Badge tone="warn">Paused</Badge>{' '}
            <Badge tone="bad">Disabled</Badge> <Badge tone="soft">No deliveries</Badge>
          </p>
          <h2>Times</h2>
          <p>
            <Moment time={TIME} />, <RelativeTime time={TIME} />
          </p>
          <h2>Filters, table and pages</h2>
          <FilterForm>
            <TextField name="user" label="User" required={false} />
            <SelectField name="type" label="Type" options={OPTIONS} />
            <TimeField name="since" label="Since" value={TIME} required={false} />
          </FilterForm>
          <Results canBeLive>
            <Table
              caption="Entries"
              rows={[1, 2, 3]}
              keyOf={(row) => row}
              columns={[
                { title: 'Name', kind: 'main', cell: (row) => <a href={HERE}>{`Entry ${row}`}</a> },
                {
                  title: 'State',
                  kind: 'status',
                  cell: (row) => (row === 2 ? <Badge tone="bad">Failed</Badge> : 'Succeeded'),
                },
                { title: 'Duration', kind: 'number', cell: (row) => `${row * 120} ms` },
                {
                  title: 'Actions',
                  kind: 'buttons',
                  cell: (row) => (
                    <ActionButton action={HERE} of={`entry ${row}`}>
                      Send again
                    </ActionButton>
                  ),
                },
              ]}
            />
            <Pagination nextCursor="next" />
          </Results>
          <h2>Nothing to show</h2>
          <EmptyState title="No endpoints yet">
            <p>Create an endpoint to receive webhooks.</p>
            <ButtonLink to={HERE}>Create endpoint</ButtonLink>
          </EmptyState>
          <h2>Names and values</h2>
          <Details
            entries={[
              ['URL', 'https://hooks.example.com/merchants'],
              ['Created', <RelativeTime key="time" time={TIME} />],
              ['Left out', null],
            ]}
          />
          <h2>Forms</h2>
          <Form action={HERE}>
            <TextField
              name="url"
              label="URL"
              type="url"
              hint="A public https URL"
              error="This URL is not public."
            />
            <FileField name="logo" label="Logo" hint="PNG or JPEG" mediaTypes={['image/png', 'image/jpeg']} />
            <TextArea name="metadata" label="Metadata" rows={3} value="<EntityDescriptor/>" />
            <SelectField name="role" label="Role" options={OPTIONS} value="webhook" />
            <Checkboxes
              name="events[]"
              legend="Events"
              hint="All events if none is selected"
              options={OPTIONS.slice(1)}
              values={['api']}
            />
            <SubmitButton isDestructive>Delete endpoint</SubmitButton>
          </Form>
          <h2>Code</h2>
          <CodeBlock
            title="Request"
            code={'curl https://api.example.com/mcp/tokens/create \\\n  -u "$client_id:$secret"'}
          />
          <h2>Numbers</h2>
          <Tiles
            entries={[
              ['Requests', '1,204'],
              [
                'Failed',
                <a key="failed" href={HERE}>
                  12 (1%)
                </a>,
              ],
              ['95th percentile', '120 ms'],
            ]}
          />
          <h2>Charts</h2>
          <BarChart
            title="Requests per hour"
            labels={HOURS}
            series={[
              { label: 'Successful', tone: 'good', values: HOURS.map((_, hour) => wave(hour)) },
              { label: 'Rejected', tone: 'warn', values: HOURS.map((_, hour) => (hour % 5) * 30) },
              { label: 'Failed', tone: 'bad', values: HOURS.map((_, hour) => (hour === 9 ? 90 : 0)) },
            ]}
          />
          <LineChart
            title="Latency"
            labels={HOURS}
            format={(value) => `${value} ms`}
            series={[
              {
                label: 'p50',
                tone: 'soft',
                values: HOURS.map((_, hour) => (hour > 3 && hour < 6 ? null : 20 + hour)),
              },
              {
                label: 'p95',
                tone: 'warn',
                values: HOURS.map((_, hour) => (hour > 3 && hour < 6 ? null : 80 + hour * 2)),
              },
            ]}
          />
          <SegmentedBar
            title="Phases"
            format={(value) => `${value} ms`}
            segments={['DNS', 'Connect', 'TLS', 'Wait', 'Rest'].map((label, index) => ({
              label,
              value: 5 + 9 * index,
            }))}
          />
          <BarChart
            title="No data"
            labels={HOURS.slice(0, 2)}
            series={[{ label: 'Requests', tone: 'soft', values: [0, 0] }]}
          />
        </>
      ),
    };
  }
}

/** A page with all parts that pages are made of, in every state. */
@Module({ controllers: [PartsController] })
export class PagePartsModule {}
