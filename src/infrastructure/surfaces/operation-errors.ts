import {
  INTERNAL_ERROR,
  PAYLOAD_TOO_LARGE,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
  type ErrorKind,
} from '../errors/index.js';
import type { OperationDocument } from '../openapi/index.js';

/** Returns the errors that any operation may respond with; a JSON body adds some. */
export function commonErrors({ body }: OperationDocument): ErrorKind[] {
  return [...(body ? [PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE] : []), INTERNAL_ERROR, SERVICE_UNAVAILABLE];
}
