import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { RequestRecorder, type CompletedRequest } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import {
  EXTERNAL_USER_ID_LENGTH,
  isMissing,
  validateText,
} from '../../../infrastructure/validation/index.js';
import { RequestLogWriter } from './request-log-writer.js';

/** Leaves an entry for every platform call that is attributed to a client. */
@Injectable()
export class PlatformCallRecorder extends RequestRecorder {
  constructor(
    private readonly writer: RequestLogWriter,
    private readonly clock: Clock,
  ) {
    super();
  }

  flush(): Promise<void> {
    return this.writer.flush();
  }

  record(call: CompletedRequest): Promise<void> {
    return this.writer.write({
      clientId: call.clientId,
      environment: call.environment,
      createdAt: this.clock.now(),
      type: 'request',
      method: call.method,
      path: call.path,
      url: null,
      event: null,
      statusCode: call.statusCode,
      latencyMilliseconds: call.latencyMilliseconds,
      sessionId: call.sessionId ?? sessionIdOf(call.body),
      taskId: null,
      externalUserId: call.externalUserId ?? externalUserIdOf(call.body),
    });
  }
}

/** The session that is named, whether or not there is one. */
function sessionIdOf(body: unknown): string | null {
  const value = (body as { session_id?: unknown } | undefined)?.session_id;
  return isUUID(value) ? (value as string) : null;
}

/** The user of a refused call is worth knowing too, as far as the text can be stored. */
function externalUserIdOf(body: unknown): string | null {
  const value = (body as { external_user_id?: unknown } | undefined)?.external_user_id;
  const isValid = !isMissing(value) && validateText('', value, EXTERNAL_USER_ID_LENGTH) === undefined;
  return isValid ? (value as string) : null;
}
