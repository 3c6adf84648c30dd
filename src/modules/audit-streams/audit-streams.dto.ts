import { EnumField, TextField } from '../../infrastructure/validation/index.js';
import { MAX_LENGTH, STREAM_FORMATS, type StreamFormat } from './audit-stream.entity.js';

export class AuditStreamRequest {
  @TextField({ in: 'form', max: MAX_LENGTH, format: 'uri' })
  url!: string;

  @EnumField(STREAM_FORMATS, { in: 'form' })
  format!: StreamFormat;

  @TextField({ in: 'form', required: false, max: MAX_LENGTH })
  authorization?: string;
}
