import { enumeration } from '../../infrastructure/schemas/index.js';
import { EnumField, TextField } from '../../infrastructure/validation/index.js';
import { MAX_LENGTH, STREAM_FORMATS, type StreamFormat } from './audit-stream.entity.js';

const FORMAT = enumeration('AuditStreamFormat', STREAM_FORMATS, 'The format of a stream of the audit log.');

/** The form with the receiver of the audit log. */
export class AuditStreamRequest {
  @TextField({
    max: MAX_LENGTH,
    description: 'A public https URL.',
    example: 'https://logs.example.com/v1',
  })
  url!: string;

  @EnumField(FORMAT, { description: 'The format.', example: 'json' })
  format!: StreamFormat;

  @TextField({
    required: false,
    max: MAX_LENGTH,
    description: 'The value of the Authorization header.',
    example: 'Bearer 1f6a…',
  })
  authorization?: string;
}
