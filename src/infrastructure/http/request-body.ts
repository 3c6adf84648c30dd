import express, { type Request, type Response } from 'express';
import { PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';

/** Reads request bodies of one media type, up to a limit. */
export class BodyReader {
  private readonly read: ReturnType<typeof express.raw>;

  /**
   * @param mediaType the media type that error messages name
   * @param limit bytes after decompression
   * @param broken creates the error for a body that is truncated or whose compression is invalid
   */
  constructor(
    private readonly mediaType: string,
    private readonly limit: number,
    private readonly broken: () => Error,
  ) {
    this.read = express.raw({ type: () => true, limit });
  }

  /** Returns the bytes of the body, or an empty buffer without a body. */
  receive(request: Request, response: Response): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.read(request, response, (error?: unknown) => {
        if (error) reject(this.translate(error) as Error);
        else resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
      });
    });
  }

  /** Translates errors of body-parser into errors of the API. */
  private translate(error: unknown): unknown {
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
  // Codes of Brotli have two underscores.
  return typeof code === 'string' && (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'));
}
