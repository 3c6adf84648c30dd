import { permissionOf } from '../../infrastructure/auth/index.js';
import { Controller, Get, Inject, type StreamableFile } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import { browserName } from '../../infrastructure/http/index.js';
import {
  Badge,
  ButtonLink,
  DashboardExport,
  DashboardPage,
  dashboardPath,
  Details,
  exportFile,
  ExportFormatField,
  Exports,
  Filter,
  FilterChoice,
  Foreign,
  FurtherFilters,
  Histogram,
  inDigits,
  isolated,
  ListPage,
  Middle,
  Moment,
  Notice,
  pathWith,
  PeriodFields,
  queryFrom,
  RelativeTime,
  shortened,
  usePage,
  Visit,
  type ExportFormat,
  type ListDescription,
  type Page,
  type PageResponse,
  type PageVisit,
  type Tone,
} from '../../infrastructure/pages/index.js';
import { AUDIT_ACTION_NAMES } from '../../infrastructure/audit-catalog/index.js';
import type { AuditOutcome } from './audit-outcome.js';
import { AUDIT_LOG_COLUMNS } from './audit-chain.js';
import type { AuditChangeResponse, AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { SearchAuditLogsQuery } from './audit-logs.dto.js';
import { Clock } from '../../infrastructure/time/index.js';
import { displayNameOf } from '../../infrastructure/validation/index.js';
import { AuditLogsService } from './audit-logs.service.js';
import {
  actionInWords,
  actOf,
  groupOf,
  isOfEnvironment,
  isOwnAccount,
  predicateOf,
  subjectOf,
} from './audit-sentences.js';
import { AuditVerification, type PartialChainReport } from './audit-verification.js';
import { AUDIT_LOG_PERMISSIONS } from './audit-logs.capability.js';

const PATH = '/dashboard/audit-log';
const AUDIT_LOG = { title: 'Audit log', path: PATH };

const OUTCOMES: Readonly<Record<AuditOutcome, { readonly label: string; readonly tone: Tone }>> = {
  success: { label: 'Succeeded', tone: 'good' },
  failure: { label: 'Failed', tone: 'bad' },
  denied: { label: 'Denied', tone: 'bad' },
};

class ExportAuditLogsQuery extends SearchAuditLogsQuery {
  @ExportFormatField()
  format!: ExportFormat;
}

/** Verifying 10,000 entries takes about as long as a page may take. */
const VERIFIED_ENTRIES = 10_000;

@Controller('dashboard/audit-log')
export class AuditLogPage extends ListPage(AUDIT_LOG_PERMISSIONS.listAuditEntries, SearchAuditLogsQuery) {
  @Inject() private readonly auditLogs!: AuditLogsService;
  @Inject() private readonly verification!: AuditVerification;
  @Inject() private readonly clock!: Clock;

  describe({ actor, query }: PageVisit): ListDescription<AuditLogEntryResponse, SearchAuditLogsQuery> {
    const empty = Object.values(query).some(Boolean)
      ? { title: 'No entries match these filters', text: adviceAbout(query) }
      : {
          title: 'Nothing is recorded yet',
          text: 'Logins, invitations, changes of endpoints and other actions of users appear here.',
        };
    return {
      title: AUDIT_LOG.title,
      about: 'What users did, and tried to do. Entries are never changed or deleted.',
      actions: (
        <>
          <ButtonLink to={`${PATH}/verify`} kind="second">
            Verify the log
          </ButtonLink>
          <ButtonLink permission={permissionOf('getAuditStream')} to="/dashboard/audit-stream" kind="second">
            Stream
          </ButtonLink>
        </>
      ),
      filters: (
        <>
          <Filter name="actor" label="Name or email" type="search" />
          <FilterChoice name="action" label="Action" options={actionOptions()} />
          <Filter name="target" label="Target" type="search" />
          <FilterChoice
            name="outcome"
            label="Outcome"
            options={Object.entries(OUTCOMES).map(([value, { label }]) => ({ value, label }))}
          />
          <FurtherFilters names={['start', 'end']} label="From and to">
            <PeriodFields />
          </FurtherFilters>
        </>
      ),
      rows: async (search, limit) => {
        const { entries, nextCursor, searchedSince } = await this.auditLogs.search(
          actor.organizationId,
          search,
          limit,
        );
        const since = searchedSince && searchedBackTo(searchedSince);
        const points = await this.auditLogs.histogram(actor.organizationId, search, this.clock.now());
        return {
          above: <Histogram points={points} things={['entry', 'entries']} />,
          data: entries,
          next_cursor: nextCursor,
          below: since,
          tools: <Exports path={`${PATH}/export`} hint="All entries that match the filters, oldest first." />,
          empty: since ? { title: 'No matching entries so far', text: since } : empty,
        };
      },
      isDense: true,
      isSplit: true,
      entriesPath: `${PATH}/entries`,
      isTinted: ({ event }) => event.outcome.status === 'denied',
      caption: 'Audit log entries, newest first',
      columns: [
        { title: 'Time', kind: 'clock', cell: ({ datetime }) => datetime },
        {
          title: 'Actor',
          kind: 'id',
          cell: (entry) => shortened(subjectOf(entry)),
          to: ({ actor: { email } }) => entriesOf({ actor: email }),
        },
        {
          title: 'Action',
          kind: 'main',
          cell: (entry) => (
            <>
              {/* The sentence says which of them it is. */}
              {entry.event.outcome.status === 'success' ? null : <Badge tone="bad" />}{' '}
              <a href={`${PATH}/entries/${entry.id}`}>{actOf(entry)}</a>
              {isOfEnvironment(entry) ? <span class="soft">{` in ${entry.target.environment}`}</span> : null}
            </>
          ),
        },
        {
          title: 'Target',
          kind: 'address',
          isSecondLine: true,
          cell: (entry) => <Target entry={entry} />,
        },
        {
          title: 'Change',
          kind: 'text',
          isOnWideOnly: true,
          isOmittedIfEmpty: true,
          cell: ({ changes }) => (changes ? <Foreign text={inWords(changes).join('; ')} /> : null),
        },
        {
          title: 'From',
          kind: 'id',
          isOnDeskOnly: true,
          // Operators and background jobs have no address.
          cell: ({ context: { ip, user_agent } }) => ip || user_agent,
        },
      ],
      empty,
    };
  }

  @Get('export/:format')
  @DashboardExport(AUDIT_LOG_PERMISSIONS.exportAuditLog)
  export(@Visit() { actor, params, query }: PageVisit<'format'>): Promise<StreamableFile> {
    const { organizationId, organizationName } = actor;
    const { format, ...filters } = queryFrom(ExportAuditLogsQuery, query, params);
    const { start, end } = filters;
    // A download that takes long has no entries from after the right to it was checked.
    const until = end ?? this.clock.now().toISOString();
    const rows = this.auditLogs.allMatching(organizationId, { ...filters, end: until });
    const file = { format, name: 'audit-log', organizationName, start, end };
    return exportFile({ ...file, columns: AUDIT_LOG_COLUMNS, rows });
  }

  /** @param upTo the sequence of the last entry to verify; anything else means the newest entries */
  @Get('verify')
  @DashboardPage(AUDIT_LOG_PERMISSIONS.listAuditEntries)
  async verify(@Visit() { actor, query: { up_to: upTo } }: PageVisit): Promise<PageResponse> {
    const sequence = /^[1-9]\d{0,14}$/.test(String(upTo)) ? Number(upTo) : undefined;
    return verificationPage(
      await this.verification.verifyPart(actor.organizationId, VERIFIED_ENTRIES, sequence),
    );
  }

  @Get('entries/:id')
  @DashboardPage(AUDIT_LOG_PERMISSIONS.listAuditEntries)
  async get(@Visit() { actor, params }: PageVisit<'id'>): Promise<PageResponse> {
    return entryPage(await this.auditLogs.get(actor.organizationId, params.id));
  }
}

/** Returns all actions by group, in alphabetical order. */
function actionOptions() {
  const options = AUDIT_ACTION_NAMES.map((value) => ({
    value,
    label: actionInWords(value),
    group: groupOf(value),
  }));
  return options.toSorted((a, b) => a.group.localeCompare(b.group) || a.label.localeCompare(b.label));
}

/** Types of targets that the search finds by their names. */
const FOUND_TARGETS: ReadonlySet<string> = new Set(['user', 'access_grant', 'webhook_endpoint', 'merchant']);

/** The target of an action, with a link to it or, if the search does not find it, to all entries about it. */
function Target({ entry }: { readonly entry: AuditLogEntryResponse }): VNode | null {
  const { target } = entry;
  const { environment } = usePage();
  if (target.name === null || isOwnAccount(entry)) return null;
  const path = dashboardPath(isOfEnvironment(entry) ? target.environment : environment, 'search');
  const name = <Middle text={shortened(target.name)} />;
  const isFound = FOUND_TARGETS.has(target.type);
  return (
    <a href={isFound ? pathWith(path, { q: target.name }, {}) : entriesOf({ target: target.name })}>{name}</a>
  );
}

function entriesOf(filters: Readonly<Record<string, string>>): string {
  return pathWith(PATH, filters, {});
}

function outcomeOf({ event }: AuditLogEntryResponse): VNode {
  const { label, tone } = OUTCOMES[event.outcome.status];
  return <Badge tone={tone}>{label}</Badge>;
}

function searchedBackTo(time: Date): VNode {
  return (
    <p>
      Searched back to <Moment time={time} />. The next page searches older entries.
    </p>
  );
}

function adviceAbout({ actor }: Readonly<Record<string, unknown>>): ComponentChildren {
  return (
    <>
      {actor ? (
        <p>
          “Name or email” finds what a user did. To see who added or changed a user, enter the address under
          “Target” instead.
        </p>
      ) : null}
      <ButtonLink to={PATH}>Clear filters</ButtonLink>
    </>
  );
}

function entryPage(entry: AuditLogEntryResponse): Page {
  const { id, datetime, event, actor, target, context, changes } = entry;
  return {
    title: `${subjectOf(entry)} ${predicateOf(entry)}`,
    parent: AUDIT_LOG,
    content: (
      <Details
        entries={[
          [
            'Time',
            <>
              <Moment time={datetime} isExact /> (<RelativeTime time={datetime} />)
            </>,
          ],
          [
            'Action',
            <>
              <code>{event.action}</code>
              {' · '}
              <a href={entriesOf({ action: event.action })}>All entries of this action</a>
            </>,
          ],
          ['Outcome', outcomeOf(entry)],
          [
            'Done by',
            <>
              {actor.name === actor.email ? actor.name : `${actor.name}, ${actor.email}`}
              {' · '}
              <a href={entriesOf({ actor: actor.email })}>All entries of this user</a>
            </>,
          ],
          [
            'Target',
            target.name === null ? (
              displayNameOf(target.type)
            ) : (
              <>
                <Foreign text={target.name} /> ({displayNameOf(target.type)})
                {isOwnAccount(entry) ? null : (
                  <>
                    {' · '}
                    <a href={entriesOf({ target: target.name })}>All entries about this target</a>
                  </>
                )}
              </>
            ),
          ],
          [
            'Changes',
            changes && (
              <ul>
                {inWords(changes).map((change) => (
                  <li key={change}>{change}</li>
                ))}
              </ul>
            ),
          ],
          ['Environment', isOfEnvironment(entry) ? target.environment : null],
          ['IP address', context.ip || null],
          ['Browser', context.ip === '' ? null : browserName(context.user_agent)],
          ['User agent', context.user_agent || null],
          ['Entry ID', id],
        ]}
      />
    ),
  };
}

/** Returns the changes of each field. Those of a long list, of which each has a part, are one. */
function inWords(changes: readonly AuditChangeResponse[]): string[] {
  return [...new Set(changes.map(({ field }) => field))].map((field) => {
    const parts = changes.filter((change) => change.field === field);
    const whole = (values: readonly (string | null)[]): string | null =>
      values.filter((value) => value !== null).join(', ') || (values[0] ?? null);
    return changeInWords({
      field,
      from: whole(parts.map(({ from }) => from)),
      to: whole(parts.map(({ to }) => to)),
    });
  });
}

/** Returns for example: role viewer → member. */
function changeInWords({ field, from, to }: AuditChangeResponse): string {
  const name = displayNameOf(field);
  if (to === 'true' || to === 'false') return `${name} turned ${to === 'true' ? 'on' : 'off'}`;
  const before = valueInWords(from);
  const after = valueInWords(to);
  if (before === null) return `${name} set to ${after}`;
  return after === null ? `${name} removed, was ${before}` : `${name} ${before} → ${after}`;
}

/** Values with several words are quoted. */
function valueInWords(value: string | null): string | null {
  if (value === null) return null;
  return value.includes(' ') ? `“${isolated(value)}”` : isolated(value);
}

function verificationPage(report: PartialChainReport): Page {
  const { from, to, isNewest, head, flaw } = report;
  const verified = from === 1 && isNewest ? 'The audit log' : 'This part of the audit log';
  return {
    title: flaw ? 'The audit log is not intact' : `${verified} is intact`,
    parent: AUDIT_LOG,
    content: (
      <>
        {flaw ? (
          <Notice kind="bad">
            <p>{flaw.explanation}</p>
            <p>
              Entries were changed or removed without the service. Tell an operator of the platform, who can
              compare the log with a copy of its head that is kept elsewhere.
            </p>
          </Notice>
        ) : (
          <Notice kind="good">{summaryOf(report)}</Notice>
        )}
        <Details
          entries={[
            ['Newest entry', head.sequence === 0 ? null : `Number ${inDigits(head.sequence)}`],
            ['Its hash (SHA-256)', head.sequence === 0 ? null : <code key="hash">{head.hash}</code>],
          ]}
        />
        <p>
          Each entry contains a hash of itself and of the entry before it, so a later change of an entry, or a
          missing entry, breaks the chain. Someone with full access to the database could rebuild the whole
          chain; only a copy of its head that is kept elsewhere reveals that.
        </p>
        <div class="actions">
          {from > 1 ? (
            <ButtonLink to={pathWith(`${PATH}/verify`, {}, { up_to: String(from - 1) })} kind="second">
              Verify the entries before
            </ButtonLink>
          ) : null}
          {isNewest ? null : (
            <ButtonLink to={`${PATH}/verify`} kind="second">
              Verify the newest entries
            </ButtonLink>
          )}
        </div>
        {from > 1 ? (
          <p class="hint">{`This page verifies ${inDigits(to - from + 1)} entries at a time.`}</p>
        ) : null}
      </>
    ),
  };
}

function summaryOf({ from, to, isNewest }: PartialChainReport): string {
  if (to === 0) return 'The audit log has no entries yet.';
  if (from === to)
    return `${to === 1 && isNewest ? 'The only entry' : `Entry ${inDigits(to)}`} is unchanged.`;
  if (from === 1 && isNewest) return `All ${inDigits(to)} entries are unchanged, and none is missing.`;
  const part = isNewest ? `The newest ${inDigits(to - from + 1)} entries` : 'The entries';
  return `${part}, number ${inDigits(from)} to ${inDigits(to)}, are unchanged, and none is missing.`;
}
