import {
  INTERNAL_ERROR,
  PAYLOAD_TOO_LARGE,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
  type ErrorKind,
} from '../errors/index.js';
import type { OperationDocument } from '../openapi/index.js';

/** Returns the errors that any operation may respond with; a JSON body adds some. */
export function commonErrors({ body, errors }: OperationDocument): ErrorKind[] {
  const own = errors.map((error) => ('kind' in error ? error.kind : error));
  const ofBody = [PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE].filter((kind) => !own.includes(kind));
  return [...(body ? ofBody : []), INTERNAL_ERROR, SERVICE_UNAVAILABLE];
}
