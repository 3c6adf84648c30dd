import type { HttpClient } from '../../../infrastructure/http-client/index.js';
import { HOUR, type Clock } from '../../../infrastructure/time/index.js';
import { ClientDocuments } from './client-documents.js';

describe('ClientDocuments', () => {
  it('fetches at most 200 new documents at the same time, however many hosts they have', async () => {
    let now = 0;
    const responses: (() => void)[] = [];
    const getDocument = ({ url }: { readonly url: string }): Promise<object> =>
      new Promise((resolve) => {
        const document = {
          client_id: url,
          client_name: 'Agent',
          redirect_uris: ['https://agent.example.com/'],
        };
        const text = { text: JSON.stringify(document), isComplete: true };
        responses.push(() => resolve({ statusCode: 200, text, problem: null, cacheControl: null }));
      });
    const http = { urlProblem: () => undefined, getDocument } as unknown as HttpClient;
    const documents = new ClientDocuments(http, { monotonic: () => now } as Clock);
    const find = (host: number) => documents.find(`https://${host}.example.com/agent.json`);
    const respond = (): void => {
      for (const each of responses.splice(0)) each();
    };

    const known = find(0);
    respond();
    expect(await known).toMatchObject({ name: 'Agent' });
    now = HOUR;
    const fetching = Array.from({ length: 200 }, (_, index) => find(index + 1));
    expect(responses).toHaveLength(200);
    expect(await find(201)).toEqual({
      problem: expect.stringContaining('is reading too many other documents') as string,
    });
    // A document that was read before is not kept waiting.
    fetching.push(find(0));
    expect(responses).toHaveLength(201);
    respond();
    expect(await Promise.all(fetching)).toEqual(
      Array.from({ length: 201 }, () => expect.objectContaining({ name: 'Agent' }) as object),
    );
    const next = find(201);
    respond();
    expect(await next).toMatchObject({ name: 'Agent' });
  });
});
