import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import ts from 'typescript';
import { verify } from '../../examples/receivers/receiver.js';
// Declares the events of sessions.
import '../../src/modules/sessions/sessions.capability.js';
import { eventBody } from '../../src/modules/webhooks/events/event-body.js';
import { exampleEvent } from '../../src/modules/webhooks/events/event-document.js';
import { deliveryHeaders } from '../../src/modules/webhooks/signing/delivery-headers.js';

const RECEIVERS = join(import.meta.dirname, '..', '..', 'examples', 'receivers');

interface Vectors {
  readonly vectors: readonly { readonly signature: string }[];
}
interface DeliveriesService {
  readonly deliveries: readonly {
    readonly name: string;
    readonly accepted: boolean;
    readonly secret: string;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

function read<Document>(file: string): Document {
  return JSON.parse(readFileSync(join(RECEIVERS, file), 'utf8')) as Document;
}
const { vectors } = read<Vectors>('service-signature.json');
const { deliveries } = read<DeliveriesService>('deliveries.json');
const { deliveries: withKeys } = read<DeliveriesService>('endpoint-keys.json');

/** The command for each language; the folder with the test vectors is appended. Optimizing takes longer than running. */
const LANGUAGES: readonly (readonly [language: string, runtime: string, ...arguments: string[]])[] = [
  ['TypeScript', process.execPath, 'receiver.mjs'],
  ['Python', 'python3', 'receiver.py'],
  ['Go', 'go', 'run', '-gcflags=all=-N -l', 'receiver.go'],
  ['Java', 'java', '-XX:TieredStopAtLevel=1', 'Receiver.java'],
  ['PHP', 'php', 'receiver.php'],
  ['Ruby', 'ruby', 'receiver.rb'],
  ['C#', 'mono', 'Receiver.exe'],
];

const isInstalled = (runtime: string): boolean =>
  ['--version', 'version'].some((question) => spawnSync(runtime, [question]).status === 0);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'receivers-'));
  cpSync(RECEIVERS, folder, { recursive: true });
  // Node.js runs TypeScript only from 22.18 on.
  const { outputText } = ts.transpileModule(readFileSync(join(RECEIVERS, 'receiver.ts'), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(join(folder, 'receiver.mjs'), outputText);
  if (isInstalled('mono')) {
    // npm adds folders to PATH where `mcs` is the command line of the service, not the compiler of Mono.
    const folders = process.env.PATH?.split(delimiter).filter((each) => !each.includes('node_modules'));
    const env = { ...process.env, PATH: folders?.join(delimiter) };
    const { status, stderr } = spawnSync('mcs', ['Receiver.cs'], { cwd: folder, encoding: 'utf8', env });
    expect([status, stderr]).toEqual([0, '']);
  }
});

/** Creates test vectors with one wrong result, which a receiver that accepts or rejects everything would miss. */
function folderWith(file: string, change: (text: string) => string): string {
  const altered = mkdtempSync(join(folder, 'altered-'));
  for (const vectorFile of ['service-signature.json', 'deliveries.json', 'endpoint-keys.json']) {
    const text = readFileSync(join(RECEIVERS, vectorFile), 'utf8');
    const changed = vectorFile === file ? change(text) : text;
    if (vectorFile === file) expect(changed).not.toBe(text);
    writeFileSync(join(altered, vectorFile), changed);
  }
  return altered;
}

describe('The example receivers', () => {
  for (const [language, runtime, ...program] of LANGUAGES) {
    const run = (vectorFolder: string) =>
      spawnSync(runtime, [...program, vectorFolder], { cwd: folder, encoding: 'utf8' });
    const name = `in ${language} accept genuine deliveries and reject others`;
    const test = isInstalled(runtime) ? it : it.skip;

    test(
      test === it ? name : `${name} (skipped: ${runtime} is not installed)`,
      () => {
        const good = run(folder);
        // The standard library of .NET has no Ed25519.
        const knowsPublicKeys = language !== 'C#';
        const known = withKeys.filter(({ secret }) => knowsPublicKeys || !secret.startsWith('whpk_'));
        const count = vectors.length + deliveries.length + known.length;
        expect([good.status, good.stdout.trim()]).toEqual([0, `ok ${count}`]);
        const wrong = [
          folderWith('service-signature.json', (text) => text.replace('17gR0UaD', '17gR0UaE')),
          folderWith('deliveries.json', (text) => text.replace('"accepted": true', '"accepted": false')),
          folderWith('deliveries.json', (text) => text.replace('"accepted": false', '"accepted": true')),
          folderWith('endpoint-keys.json', (text) =>
            text.replaceAll(knowsPublicKeys ? 'v1a,' : 'v1,', 'v0,'),
          ),
        ].map(run);
        expect(wrong.map(({ stderr }) => /Failed: (.*)/.exec(stderr)?.[1])).toEqual([
          'session event with metadata',
          'event of a session',
          'different body of the same length',
          knowsPublicKeys ? 'key pair of the endpoint' : 'secret of the endpoint',
        ]);
        expect(wrong.map(({ status }) => status)).toEqual([1, 1, 1, 1]);
      },
      60_000,
    );
  }

  const testPhp = isInstalled('php') ? it : it.skip;
  testPhp('in PHP accept headers in lists of values, as frameworks have them', () => {
    const code = `require 'receiver.php';
      $deliveries = json_decode(file_get_contents('deliveries.json'), true)['deliveries'];
      foreach ($deliveries as ['body' => $body, 'headers' => $headers, 'secret' => $secret, 'now' => $now])
        echo json_encode(verify($body, array_map(fn ($value) => [$value], $headers), $secret, $now)), ' ';`;
    const { stdout } = spawnSync('php', ['-r', code], { cwd: folder, encoding: 'utf8' });
    expect(stdout.trim().split(' ')).toEqual(deliveries.map(({ accepted }) => String(accepted)));
  });

  it('accept a delivery signed now', () => {
    const secret = 'mcs_dev_3f9Qk2LrYv7TnXb1Wc8ZpHs5JdMg0RaEu4oViKtBx6N0a1b2c';
    const event = exampleEvent('AUTHENTICATED');
    const now = new Date();
    const body = eventBody(event, now.getTime());
    const parts = { eventId: 'e-1', event: 'AUTHENTICATED', body, now, secret };
    const { sessionId } = event;
    expect(verify(body, deliveryHeaders({ ...parts, sessionId }), secret)).toBe(true);
    expect(verify(body, deliveryHeaders(parts), secret)).toBe(false);
  });

  it.each(deliveries.slice(0, 3).map((delivery) => [delivery.name, delivery] as const))(
    'are tested with the headers that the service sends (%s)',
    (_name, { accepted, secret, body, headers }) => {
      const { event, session_id: sessionId } = JSON.parse(body) as { event: string; session_id?: string };
      const now = new Date(Number(headers['webhook-timestamp']) * 1000);
      const eventId = headers['webhook-id'] ?? '';
      const sent = deliveryHeaders({
        eventId,
        event,
        body: Buffer.from(body),
        now,
        secret,
        ...(sessionId && { sessionId }),
      });
      // The header ends with the release; the deliveries are older.
      const userAgent = headers['User-Agent'];
      expect(sent['User-Agent']).toMatch(/^MerchantConnectivityService-Webhooks\/\d+\.\d+\.\d+$/);
      expect([accepted, headers]).toEqual([true, { ...sent, 'User-Agent': userAgent }]);
    },
  );
});
