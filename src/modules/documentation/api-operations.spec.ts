import type { OpenAPIObject } from '@nestjs/swagger';
import { ApiOperations } from './api-operations.js';

describe('ApiOperations', () => {
  it('are read again after a failure', async () => {
    const operations = new ApiOperations();
    operations.from(() => Promise.reject(new Error('EMFILE: too many open files')));
    await expect(operations.all()).rejects.toThrow('EMFILE');
    const document: OpenAPIObject = { openapi: '3.1.0', info: { title: 'API', version: '1' }, paths: {} };
    operations.from(() => Promise.resolve(document));
    expect([await operations.document(), await operations.all()]).toEqual([document, []]);
  });
});
