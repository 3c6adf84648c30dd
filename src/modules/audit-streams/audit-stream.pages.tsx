import type { VNode } from 'preact';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import {
  ActionButton,
  Allowed,
  Details,
  Done,
  Form,
  FormProblem,
  Notice,
  Seen,
  SelectField,
  SubmitButton,
  TextField,
  type Page,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { MAX_LENGTH, type AuditStream, type StreamFormat } from './audit-stream.entity.js';

export const STREAM_PATH = '/dashboard/audit-stream';

const FORMATS: Readonly<Record<StreamFormat, string>> = {
  json: 'JSON',
  otlp: 'OpenTelemetry logs (OTLP/HTTP with JSON)',
};

export function streamPage(stream: AuditStream | null): Page {
  return {
    title: 'Audit stream',
    parent: { title: 'Audit log', path: '/dashboard/audit-log' },
    content: (
      <>
        <Done messages={{ saved: 'The stream was saved.', removed: 'The stream was removed.' }} />
        <FormProblem />
        {stream ? <Status {...stream} /> : <p>The audit log is not sent anywhere.</p>}
        <Allowed operation="updateAuditStream">
          <Form action={STREAM_PATH}>
            <Seen values={changeableOf(stream)} />
            <TextField
              name="url"
              label="URL"
              hint="A public https address that responds with status 200"
              type="url"
              value={stream?.url}
              maxLength={MAX_LENGTH}
            />
            <SelectField
              name="format"
              label="Format"
              value={stream?.format ?? 'json'}
              options={Object.entries(FORMATS).map(([value, label]) => ({ value, label }))}
            />
            <TextField
              name="authorization"
              label="Authorization header"
              hint="Such as “Bearer” and a token. If it is empty, the current one is kept as long as the host stays the same."
              type="password"
              required={false}
              maxLength={MAX_LENGTH}
            />
            <SubmitButton>{stream?.pausedAt ? 'Save and resume' : 'Save stream'}</SubmitButton>
          </Form>
          {stream ? <ActionButton action={`${STREAM_PATH}/remove`}>Remove stream</ActionButton> : null}
        </Allowed>
      </>
    ),
  };
}

/** What the form changes. */
export const changeableOf = (stream: AuditStream | null): ShownValues => ({
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
            : 'The service tries again. After a day of failures, it pauses the stream.'}
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
