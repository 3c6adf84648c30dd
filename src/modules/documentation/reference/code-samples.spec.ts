import type { OpenAPIObject } from '@nestjs/swagger';
import ts from 'typescript';
import { readProjectFile } from '../../../infrastructure/project-files/index.js';
import { ApiOperations } from '../api-operations.js';
import { codeSamplesOf } from './code-samples.js';
import { ReferenceDocument, type DescribedOperation } from './described-operation.js';

const document = JSON.parse(readProjectFile('openapi.json')) as OpenAPIObject;
const reference = new ReferenceDocument(document);
const URL = 'https://api.example.com';
const typescriptClient = readProjectFile('clients/typescript/src/merchant-connectivity.ts');
const pythonClient = readProjectFile('clients/python/src/merchant_connectivity/_client.py');

let operations: DescribedOperation[];
beforeAll(async () => {
  const api = new ApiOperations();
  api.from(() => Promise.resolve(document));
  operations = (await api.all()).map((operation) => reference.describe(operation));
});
const sampleOf = (id: string, label: string): string => {
  const operation = operations.find((each) => each.id === id);
  if (!operation) throw new Error(`There is no operation ${id}.`);
  return codeSamplesOf(operation, URL, reference).find((each) => each.label === label)?.code ?? '';
};

describe('The samples of the reference', () => {
  it('send the example with curl', () => {
    expect(sampleOf('eraseUser', 'curl')).toBe(
      [
        `curl -sS '${URL}/external-users/erase'`,
        '-u "$client_id:$secret"',
        "-H 'Content-Type: application/json'",
        `-d '{\n  "external_user_id": "user-8f3a"\n}'`,
      ].join(' \\\n  '),
    );
    expect(sampleOf('listRequestLogs', 'curl')).toBe(
      `curl -sS '${URL}/request-logs?environment=development' \\\n  -H "Authorization: Bearer $access_token"`,
    );
    expect(sampleOf('cancelSignInLink', 'curl')).toContain(`curl -sS -X POST '${URL}/sign-in-links/0f0c`);
    expect(sampleOf('introspectToken', 'curl')).toMatch(/--data-urlencode 'token=[^']+'/);
    expect(sampleOf('streamWebhooks', 'curl')).toContain('curl -sSN');
  });

  it('call the methods of the SDKs with their parameters', () => {
    expect(sampleOf('getRequestLog', 'TypeScript')).toBe(
      [
        "import { MerchantConnectivity } from '@merchant-connectivity/sdk';",
        '',
        'const { access_token: accessToken } = process.env;',
        `const client = new MerchantConnectivity({ baseUrl: '${URL}', accessToken });`,
        'const result = await client.getRequestLog(8001234);',
        'console.log(result);',
      ].join('\n'),
    );
    expect(sampleOf('searchDetectedAccounts', 'Python')).toBe(
      [
        'import os',
        'from merchant_connectivity import MerchantConnectivity',
        '',
        'with MerchantConnectivity(',
        `  "${URL}",`,
        '  client_id=os.environ["client_id"],',
        '  client_secret=os.environ["secret"],',
        ') as client:',
        '    print(client.search_detected_accounts(',
        '      external_user_id="user-8f3a",',
        '      names=["Netflix", "door dash"],',
        '    ))',
      ].join('\n'),
    );
    expect(sampleOf('exchangeForAgentTokens', 'TypeScript')).toBe('');
  });

  it('are TypeScript that calls a method of the SDK', () => {
    const withSamples = operations.filter(({ id }) => sampleOf(id, 'TypeScript') !== '');
    expect(withSamples.length).toBeGreaterThan(50);
    for (const { id } of withSamples) {
      const code = sampleOf(id, 'TypeScript');
      const { diagnostics = [] } = ts.transpileModule(code, {
        reportDiagnostics: true,
        compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
      });
      expect([id, diagnostics.map(({ messageText }) => messageText)]).toEqual([id, []]);
      expect(typescriptClient).toContain(`\n  ${id}(`);
    }
  });

  it('are Python that calls a method of the SDK with its parameters', () => {
    for (const { id } of operations) {
      const code = sampleOf(id, 'Python');
      if (code === '') continue;
      const [call = '', name = ''] = /client\.(\w+)\([^]*/.exec(code) ?? [];
      const [, signature = ''] = new RegExp(`\\n    def ${name}\\(([^]*?)\\) ->`).exec(pythonClient) ?? [];
      const named = [...call.matchAll(/(?:^|[(,]\s*)(\w+)=/g)].map(([, parameter]) => parameter);
      expect([id, named.filter((parameter) => !signature.includes(`${parameter}: `))]).toEqual([id, []]);
      expect([id, signature]).toEqual([id, expect.stringContaining('self')]);
    }
  });
});
