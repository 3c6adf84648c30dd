import express, { type Request, type Response } from 'express';
import { PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';

/** Reads bodies of one kind, up to a limit. */
export class BodyReader {
  private readonly read: ReturnType<typeof express.raw>;

  /**
   * @param mediaType what the body must be
   * @param limit bytes, after decompression
   * @param broken the error for a body that was cut short or whose compression is broken
   */
  constructor(
    private readonly mediaType: string,
    private readonly limit: number,
    private readonly broken: () => Error,
  ) {
    this.read = express.raw({ type: () => true, limit });
  }

  /** The bytes of the body; none where there is no body. */
  receive(request: Request, response: Response): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.read(request, response, (error?: unknown) => {
        if (error) reject(this.explain(error) as Error);
        else resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
      });
    });
  }

  /** What body-parser found wrong, in the words of the API. */
  private explain(error: unknown): unknown {
    switch ((error as { type?: string }).type) {
      case 'entity.too.large':
        return PAYLOAD_TOO_LARGE.error(`The request body must not be larger than ${this.limit} bytes.`);
      case 'encoding.unsupported':
        return UNSUPPORTED_MEDIA_TYPE.error(`The request body must be ${this.mediaType} in UTF-8.`);
      default:
        return (error as { status?: number }).status === 400 || isBrokenCompression(error)
          ? this.broken()
          : error;
    }
  }
}

function isBrokenCompression(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'));
}
