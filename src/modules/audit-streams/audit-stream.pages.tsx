import { Controller, Inject, Post } from '@nestjs/common';
import type { VNode } from 'preact';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import {
  ActionButton,
  Allowed,
  ButtonLink,
  ConfirmPage,
  DashboardAction,
  Details,
  FormPage,
  Moment,
  Notice,
  requireUnchanged,
  submitted,
  SelectField,
  TextField,
  Visit,
  type Confirmation,
  type FormDescription,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { NOT_FOUND } from '../../infrastructure/errors/index.js';
import { stateOf, type AuditStream, type StreamFormat, type StreamState } from './audit-stream.entity.js';
import { AuditStreamRequest } from './audit-streams.dto.js';
import { AuditStreamsService } from './audit-streams.service.js';
import { AUDIT_STREAM_PERMISSIONS } from './audit-streams.capability.js';

const PATH = '/dashboard/audit-stream';

const FORMATS: Readonly<Record<StreamFormat, string>> = {
  json: 'JSON',
  otlp: 'OpenTelemetry logs (OTLP/HTTP with JSON)',
};

@Controller('dashboard/audit-stream')
class AuditStreamPage extends FormPage(
  { show: AUDIT_STREAM_PERMISSIONS.getAuditStream, send: AUDIT_STREAM_PERMISSIONS.updateAuditStream },
  AuditStreamRequest,
) {
  @Inject() private readonly streams!: AuditStreamsService;

  async describe({ actor }: PageVisit): Promise<FormDescription<AuditStreamRequest, AuditStream | null>> {
    const stream = await this.streams.find(actor.organizationId);
    return {
      title: 'Audit stream',
      parent: { title: 'Audit log', path: '/dashboard/audit-log' },
      messages: {
        saved: 'The stream was saved.',
        removed: 'The stream was removed.',
        skipped: 'The entry was skipped. The stream continues with the next one.',
      },
      text: stream ? <Status {...stream} /> : 'The audit log is not sent anywhere.',
      action: PATH,
      subject: stream,
      shows: versionOf,
      values: { format: 'json', ...stream },
      fields: (
        <>
          <TextField
            name="url"
            label="URL"
            hint="A public https address that responds with a status of success, such as 200"
          />
          <SelectField
            name="format"
            label="Format"
            options={Object.entries(FORMATS).map(([value, label]) => ({ value, label }))}
          />
          <TextField
            name="authorization"
            label="Authorization header"
            hint="Such as “Bearer” and a token. If it is empty, the current one is kept as long as the host stays the same."
            type="password"
          />
        </>
      ),
      button: stream?.pausedAt ? 'Save and resume' : 'Save stream',
      after: stream && (
        <Allowed permission={AUDIT_STREAM_PERMISSIONS.deleteAuditStream}>
          <ActionButton action={`${PATH}/remove`} version={versionOf(stream)}>
            Remove stream
          </ActionButton>
        </Allowed>
      ),
      perform: (request, check) => this.streams.configure(actor, request, check),
      next: `${PATH}?done=saved`,
    };
  }

  @Post('remove')
  @DashboardAction(AUDIT_STREAM_PERMISSIONS.deleteAuditStream)
  remove(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, form } = visit;
    return submitted(
      async () => {
        await this.streams.remove(actor, (current) => requireUnchanged(form, versionOf(current)));
        return { redirectTo: `${PATH}?done=removed` };
      },
      () => this.show(visit),
    );
  }
}

@Controller('dashboard/audit-stream/skip')
class SkipEntryPage extends ConfirmPage(AUDIT_STREAM_PERMISSIONS.skipAuditStreamEntry) {
  @Inject() private readonly streams!: AuditStreamsService;

  async describe({ actor }: PageVisit): Promise<Confirmation<AuditStream>> {
    const stream = NOT_FOUND.requireFound(await this.streams.find(actor.organizationId));
    const entry = await this.streams.refusedEntry(stream);
    return {
      title: entry ? `Skip entry ${entry.sequence}?` : 'No entry to skip',
      parent: { title: 'Audit stream', path: PATH },
      subject: stream,
      shows: ({ url, refusedSequence }) => ({
        URL: maskedUrl(url),
        'Refused entry': refusedSequence ?? 'None',
      }),
      text: entry ? (
        <>
          <Details
            entries={[
              ['Action', entry.event.action],
              ['Time', <Moment key="time" time={entry.datetime} />],
              ['Actor', entry.actor.email || entry.actor.name],
            ]}
          />
          <p>{stream.problem}</p>
          <p>
            The receiver never gets this entry, and finds a gap in the chain. The entry stays in the audit
            log, which also records that you skipped it. The stream continues with the next entry.
          </p>
        </>
      ) : (
        <p>The receiver refuses no entry at present.</p>
      ),
      button: 'Skip this entry',
      perform: (_, check) => this.streams.skip(actor, check),
      next: `${PATH}?done=skipped`,
    };
  }
}

export const AUDIT_STREAM_PAGES = [AuditStreamPage, SkipEntryPage];

/** The values that the form changes. */
const versionOf = (stream: AuditStream | null): ShownValues => ({
  URL: stream ? maskedUrl(stream.url) : 'none',
  Format: stream ? FORMATS[stream.format] : 'none',
});

const EXPLANATIONS: Readonly<Partial<Record<StreamState, string>>> = {
  failing: 'The service retries. If the receiver fails for a day, the service pauses the stream.',
  failing_here:
    'The cause may be on the side of this service. The service retries, and does not pause the stream.',
  paused:
    'The stream is paused, because no attempt succeeded for a day. No entry is lost: save the stream to resume it.',
};

function Status(stream: AuditStream): VNode {
  const { url, format, position, problem, failingSince, authorizationSealed, batchEntries, rejection } =
    stream;
  const { refusedSequence } = stream;
  return (
    <>
      {problem === null ? null : (
        <Notice kind="bad">
          {problem} {EXPLANATIONS[stateOf(stream)]}
          {refusedSequence === null ? null : (
            <ButtonLink
              permission={AUDIT_STREAM_PERMISSIONS.skipAuditStreamEntry}
              to={`${PATH}/skip`}
              kind="second"
            >
              Skip this entry
            </ButtonLink>
          )}
        </Notice>
      )}
      {rejection === null ? null : (
        <Notice kind="bad">
          {rejection} The service does not send these entries again. To remove this message, save the stream.
        </Notice>
      )}
      <Details
        entries={[
          ['URL', maskedUrl(url)],
          ['Format', FORMATS[format]],
          ['Authorization header', authorizationSealed ? 'Set' : 'None'],
          ['Last confirmed entry', position === '0' ? 'None' : position],
          ['Entries that the receiver did not store', stream.rejectedEntries],
          ['Entries that owners skipped', stream.skippedEntries],
          ...(batchEntries === null
            ? []
            : [['Entries per request', `${batchEntries}: the receiver refused more`] as const]),
          ...(failingSince ? [['Failing since', <Moment key="failing" time={failingSince} />] as const] : []),
        ]}
      />
    </>
  );
}
