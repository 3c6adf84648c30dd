import {
  INTERNAL_ERROR,
  PAYLOAD_TOO_LARGE,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
} from '../errors/index.js';

/** What any operation with a JSON body may answer besides its own errors. */
export const JSON_OPERATION_ERRORS = [
  PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
  INTERNAL_ERROR,
  SERVICE_UNAVAILABLE,
];
