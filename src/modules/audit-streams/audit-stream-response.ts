import { z } from 'zod';
import { parsedJson } from '../../infrastructure/config/index.js';

/** The entries that a receiver did not store, and the reason. */
interface Rejection {
  readonly count: number;
  readonly message: string;
}

/** JSON of Protocol Buffers: numbers of 64 bits are texts, and names may be in either case. */
const REJECTION = z
  .object({
    rejectedLogRecords: z.coerce.number().int().nonnegative().catch(0),
    rejected_log_records: z.coerce.number().int().nonnegative().catch(0),
    errorMessage: z.string().catch(''),
    error_message: z.string().catch(''),
  })
  .transform((said) => ({
    count: said.rejectedLogRecords || said.rejected_log_records,
    message: said.errorMessage || said.error_message,
  }));
const RESPONSE = z
  .object({ partialSuccess: REJECTION.optional(), partial_success: REJECTION.optional() })
  .transform((body) => body.partialSuccess ?? body.partial_success);

/**
 * Returns what a receiver of OpenTelemetry logs says about entries that it did not store, although its status is a success
 * (OTLP, "Partial Success"): such entries must not be sent again. Undefined if it stored all of them.
 */
export function rejectionIn(text = ''): Rejection | undefined {
  const rejection = RESPONSE.safeParse(parsedJson(text)).data;
  return rejection && (rejection.count > 0 || rejection.message !== '') ? rejection : undefined;
}
