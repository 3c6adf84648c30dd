import { Controller, Inject, Post } from '@nestjs/common';
import type { VNode } from 'preact';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import {
  ActionButton,
  Allowed,
  DashboardAction,
  Details,
  FormPage,
  Notice,
  requireUnchanged,
  SelectField,
  TextField,
  Visit,
  type FormDescription,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import type { AuditStream, StreamFormat } from './audit-stream.entity.js';
import { AuditStreamRequest } from './audit-streams.dto.js';
import { AuditStreamsService } from './audit-streams.service.js';

const PATH = '/dashboard/audit-stream';

const FORMATS: Readonly<Record<StreamFormat, string>> = {
  json: 'JSON',
  otlp: 'OpenTelemetry logs (OTLP/HTTP with JSON)',
};

@Controller('dashboard/audit-stream')
export class AuditStreamPage extends FormPage(
  { show: 'getAuditStream', send: 'updateAuditStream' },
  AuditStreamRequest,
) {
  @Inject() private readonly streams!: AuditStreamsService;

  async describe({ actor, form }: PageVisit): Promise<FormDescription<AuditStreamRequest>> {
    const stream = await this.streams.find(actor.organizationId);
    return {
      title: 'Audit stream',
      parent: { title: 'Audit log', path: '/dashboard/audit-log' },
      messages: { saved: 'The stream was saved.', removed: 'The stream was removed.' },
      text: stream ? <Status {...stream} /> : 'The audit log is not sent anywhere.',
      version: versionOf(stream),
      values: { format: 'json', ...stream },
      fields: (
        <>
          <TextField name="url" label="URL" hint="A public https address that responds with status 200" />
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
        <Allowed operation="deleteAuditStream">
          <ActionButton action={`${PATH}/remove`}>Remove stream</ActionButton>
        </Allowed>
      ),
      perform: (request) =>
        this.streams.configure(actor, request, (current) => requireUnchanged(form, versionOf(current))),
      next: `${PATH}?done=saved`,
    };
  }

  @Post('remove')
  @DashboardAction('deleteAuditStream')
  async remove(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    await this.streams.remove(actor);
    return { redirectTo: `${PATH}?done=removed` };
  }
}

/** What the form changes. */
const versionOf = (stream: AuditStream | null): ShownValues => ({
  URL: stream ? maskedUrl(stream.url) : 'none',
  Format: stream ? FORMATS[stream.format] : 'none',
});

function Status({ url, format, position, problem, pausedAt, authorizationSealed }: AuditStream): VNode {
  return (
    <>
      {problem === null ? null : (
        <Notice kind="bad">
          {problem}{' '}
          {pausedAt
            ? 'The stream is paused, because no attempt succeeded for a day. No entry is lost: save the stream to resume it.'
            : 'The service tries again. If the receiver fails for a day, it pauses the stream.'}
        </Notice>
      )}
      <Details
        entries={[
          ['URL', maskedUrl(url)],
          ['Format', FORMATS[format]],
          ['Authorization header', authorizationSealed ? 'Set' : 'None'],
          ['Last confirmed entry', position === '0' ? 'None' : position],
        ]}
      />
    </>
  );
}
