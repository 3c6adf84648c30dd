import { Agent, request } from 'node:http';

/** Headers that `fetch` sends, too. */
const USUAL_HEADERS = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
};
const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';

/** Drops a byte order mark, as `fetch` does. */
const decoder = new TextDecoder();
const agent = new Agent({ keepAlive: true });

export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | URLSearchParams;
}

interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request. Takes less than half of the CPU time of `fetch`, and does not follow redirects. */
export function send(
  url: string,
  { method = 'GET', headers, body }: HttpRequest = {},
): Promise<HttpResponse> {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : body?.toString();
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method,
      headers: {
        ...USUAL_HEADERS,
        ...(body instanceof URLSearchParams && { 'content-type': FORM }),
        ...headers,
        ...(bytes !== undefined && { 'content-length': Buffer.byteLength(bytes) }),
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, rawHeaders } = response;
        const pairs = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
        );
        resolve({ status, headers: new Headers(pairs), text: decoder.decode(Buffer.concat(chunks)) });
      });
    });
    sent.end(bytes);
  });
}

/** Returns the body of a request as JSON. Text and bytes stay as they are. */
export function encoded(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}
