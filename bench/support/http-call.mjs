import { request as send } from 'node:http';

/** Sends a request; rejects if there is no response. The options are those of `http.request`. */
export function sendRequest(options, body) {
  return new Promise((resolve, reject) => {
    const request = send(options, (response) => {
      bytesOf(response).then(
        (content) => resolve({ status: response.statusCode, headers: response.headers, body: content }),
        reject,
      );
    });
    request.once('timeout', () => request.destroy(new Error('No response')));
    request.once('error', reject);
    request.end(body);
  });
}

export async function bytesOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
