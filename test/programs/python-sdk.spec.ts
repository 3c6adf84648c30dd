import { execFile, type ExecFileOptions } from 'node:child_process';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { ApiKeysService } from '../../src/modules/api-keys/index.js';
import {
  hasPythonPackages,
  NEWEST_MINOR,
  OLDEST_MINOR,
  pythonVersions,
  pythonWheel,
  PYTHONPATH,
  PYTHON_WHEELS,
} from '../support/sdks/python-packages.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCES = join(ROOT, 'clients/python');
const service = useTestApp();
const isInstalled = hasPythonPackages('httpx', 'mypy', 'hatchling', 'cryptography');
const itWithPython = isInstalled ? it : it.skip;
const versions: ReadonlyMap<string, string> = isInstalled
  ? await pythonVersions()
  : new Map([['3', 'python3']]);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'python-sdk-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program of Python, with the packages of the tests and the sources of the SDK. */
async function runPython(
  words: readonly string[],
  program = 'python3',
  path = `${SOURCES}/src:${PYTHONPATH}`,
): Promise<string> {
  const options: ExecFileOptions = {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' },
  };
  try {
    const { stdout } = await promisify(execFile)(program, words, options);
    return stdout.toString();
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  }
}

/** The files of two wheels, without what names the program that packed them. */
const COMPARE = `
import sys, zipfile
wheels = [zipfile.ZipFile(path) for path in sys.argv[1:]]
def contents(wheel):
    texts = {name: wheel.read(name).decode() for name in wheel.namelist() if not name.endswith('RECORD')}
    return {name: [line for line in text.splitlines() if not line.startswith(('Generator:', 'Metadata-Version:'))] for name, text in texts.items()}
first, second = map(contents, wheels)
print(sorted(name for name in {*first, *second} if first.get(name) != second.get(name)), len(first))
`;

/** Programs of integrators: what type checkers must accept, and what they must not. */
const USAGE = `
from datetime import datetime, timezone
from merchant_connectivity import ApiError, AsyncMerchantConnectivity, MerchantConnectivity, Page, UNSET, schemas, webhooks

def use(client: MerchantConnectivity) -> schemas.ErrorCode | None:
    token: str = client.create_mcp_token(external_user_id="u", expires_in=60, options={"idempotency_key": "k"})["token"]
    client.create_mcp_token(user=token)  # type: ignore[call-arg]
    client.create_mcp_token(external_user_id=1)  # type: ignore[arg-type]
    for entry in client.list_request_logs(environment="production", start=datetime.now(timezone.utc)):
        entry["status_code"].bit_length()
        entry["status"]  # type: ignore[typeddict-item]
    first: Page[schemas.RequestLogEntryResponse] = client.list_request_logs(environment="development").first()
    client.list_request_logs(environment="staging")  # type: ignore[arg-type]
    client.update_webhook_endpoint(first.data[0]["id"], description=None, url=UNSET)
    client.publish_event({"client_id": "c", "event": "MERCHANT_STATUS_UPDATE", "merchant_id": 16, "data": {"type": "link", "status": "UP"}})
    with client.stream_webhooks() as response:
        response.iter_lines()
    event = webhooks.verify(b"", {}, "secret")
    if event["event"] == "CARD_UPDATED":
        event["data"]["card_id"].upper()
    if event["event"] == "CARD_LOST":  # type: ignore[comparison-overlap]
        pass
    if "external_user_id" in event:
        event["external_user_id"].upper()
    event["external_user_id"]  # type: ignore[typeddict-item]
    return ApiError("", 400, "").error_code

async def key() -> str:
    return "k"

MerchantConnectivity("https://api.example.com", client_id="c", api_key=lambda: "k")
MerchantConnectivity("https://api.example.com", api_key=key)  # type: ignore[arg-type]
AsyncMerchantConnectivity("https://api.example.com", api_key=key)

async def use_async(client: AsyncMerchantConnectivity) -> None:
    async with client:
        token: str = (await client.create_mcp_token(external_user_id="u"))["token"]
        client.create_mcp_token(external_user_id=token)  # type: ignore[unused-coroutine]
        async for entry in client.list_audit_logs():
            entry["id"]
        (await client.list_audit_logs().first()).data
`;

describe('The Python SDK', () => {
  it('is generated from the current API document', async () => {
    const generated = mkdtempSync(join(folder, 'generated-'));
    const words = ['scripts/generate-sdk.mjs', mkdtempSync(join(folder, 'typescript-')), generated];
    await promisify(execFile)(process.execPath, words, { cwd: ROOT });
    const files = readdirSync(generated).toSorted();
    expect(files).toEqual(['_client.py', '_operations.py', '_version.py', 'schemas.py']);
    for (const file of files) {
      const committed = readFileSync(join(SOURCES, 'src/merchant_connectivity', file), 'utf8');
      expect([file, readFileSync(join(generated, file), 'utf8') === committed]).toEqual([file, true]);
    }
  });

  itWithPython(
    'is packed as pip packs it',
    async () => {
      const pip = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-build-isolation'];
      await runPython([...pip, '--wheel-dir', folder, SOURCES]);
      const [built = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
      expect(await runPython(['-c', COMPARE, pythonWheel(), join(folder, built)])).toBe('[] 14\n');
    },
    60_000,
  );

  itWithPython(
    'is installed from the service into a clean environment, and works',
    async () => {
      const page = await (await fetch(`${service.baseUrl}/docs/downloads`)).text();
      const [url = ''] = /http:[^\s<]+\.whl/.exec(page) ?? [];
      expect(page).toContain(`pip install ${url}`);
      const guide = await (await fetch(`${service.baseUrl}/docs/python`)).text();
      // Between two releases, the guide names the package of the last one, and the list also has the current one.
      const [, released = ''] = /pip install (http\S+\.whl)\n/.exec(guide.replaceAll(/<[^>]+>/g, '')) ?? [];
      expect(page).toContain(`pip install ${released}<`);
      const { headers } = await fetch(url);
      expect(headers.get('content-type')).toBe('application/zip');
      const environment = join(folder, 'environment');
      // Some systems have no package that installs pip.
      await runPython(['-m', 'venv', '--without-pip', environment]);
      const program = join(environment, 'bin/python');
      // From a mirror on this machine, if .ci/run has filled it.
      const source = existsSync(PYTHON_WHEELS) ? ['--no-index', '--find-links', PYTHON_WHEELS] : [];
      const pip = ['-m', 'pip', '--python', program, 'install', '--quiet', '--disable-pip-version-check'];
      // Without the packages of the tests, which pip would find.
      await runPython([...pip, ...source, url], 'python3', '');
      const { clientId, secret } = service.development;
      const code = `
from merchant_connectivity import MerchantConnectivity, __version__
with MerchantConnectivity("${service.baseUrl}", client_id="${clientId}", client_secret="${secret}") as client:
    print(len(client.create_mcp_token(external_user_id="u")["token"]) > 40, __version__)`;
      const { version } = JSON.parse(readFileSync(join(ROOT, 'clients/typescript/package.json'), 'utf8')) as {
        version: string;
      };
      expect(await runPython(['-I', '-c', code], program)).toBe(`True ${version}\n`);
    },
    120_000,
  );

  // Type checkers read the sources as the oldest version, and as the newest.
  itWithPython.each([OLDEST_MINOR, NEWEST_MINOR].map((minor) => `3.${minor}`))(
    'passes mypy --strict, and so do programs that use it, with Python %s',
    async (version) => {
      writeFileSync(join(folder, 'usage.py'), USAGE);
      const words = ['--strict', '--python-version', version, '--no-error-summary', '--cache-dir', folder];
      expect(
        await runPython(['-m', 'mypy', ...words, 'usage.py', `${SOURCES}/src/merchant_connectivity`]),
      ).toBe('');
    },
    120_000,
  );

  itWithPython.each([...versions])(
    'runs on Python %s',
    async (_version, program) => {
      const { stored, token } = await service.app
        .get(ApiKeysService)
        .create(service.development.clientId, { name: `key of ${_version}`, scopes: ['mcp_tokens:write'] });
      rememberSecret(token);
      const code = `
import asyncio, pickle, sys, typing
from merchant_connectivity import ApiError, AsyncMerchantConnectivity, MerchantConnectivity, SignatureError, schemas, webhooks
body = b'{"event":"CARD_UPDATED","session_id":"s","data":{"card_id":"c"}}'
assert webhooks.verify(body, webhooks.sign(body, "secret"), "secret")["event"] == "CARD_UPDATED"
assert typing.get_type_hints(schemas.McpTokenResponse) == {"token": str, "expires_at": str}
url = "${service.baseUrl}"
options = dict(client_id="${service.development.clientId}", client_secret="${service.development.secret}")
with MerchantConnectivity(url, client_id=options["client_id"], client_secret=lambda: options["client_secret"]) as client:
    assert client.create_mcp_token(external_user_id="u")["token"]
with MerchantConnectivity(url, client_id=options["client_id"], api_key=lambda: "${token}") as client:
    assert client.create_mcp_token(external_user_id="u")["token"] and client.get_current_user()["id"] == "${stored.id}"
async def secret() -> str:
    return options["client_secret"]
async def api_key() -> str:
    return "${token}"
async def main() -> None:
    async with AsyncMerchantConnectivity(url, client_id=options["client_id"], client_secret=secret) as client:
        assert (await client.create_mcp_token(external_user_id="u"))["token"]
    async with AsyncMerchantConnectivity(url, api_key=api_key) as client:
        assert (await client.get_current_user())["id"] == "${stored.id}"
asyncio.run(main())
# A worker sends it to another process.
copy = pickle.loads(pickle.dumps(ApiError("o", 400, "m", error_code="INVALID_FIELD", retry_after=1)))
assert (copy.operation, copy.status, str(copy), copy.error_code, copy.retry_after) == ("o", 400, "m", "INVALID_FIELD", 1)
assert pickle.loads(pickle.dumps(SignatureError("body", "m"))).reason == "body"
print("%d.%d" % sys.version_info[:2])`;
      expect(await runPython(['-W', 'error', '-c', code], program)).toBe(`${_version}\n`);
    },
    60_000,
  );
});

describe('Times of the Python SDK', () => {
  itWithPython('are sent in UTC, and refused without a time zone before anything is sent', async () => {
    const code = `
from datetime import datetime, timedelta, timezone
import httpx
from merchant_connectivity import MerchantConnectivity
sent = []
def answer(request):
    sent.append(str(request.url.query or request.content))
    return httpx.Response(200, json={"data": [], "next_cursor": None, "limit": 1})
http = httpx.Client(transport=httpx.MockTransport(answer))
client = MerchantConnectivity("http://localhost", client_id="c", client_secret="s", access_token="t", http_client=http)
zoned = datetime(2026, 1, 31, 9, tzinfo=timezone(timedelta(hours=1)))
client.list_audit_logs(start=zoned).first()
client.recover_webhooks("e", since=zoned)
print(*sent)
def refused(call):
    try:
        call()
    except ValueError as error:
        print(error)
naive = datetime(2026, 1, 31, 9)
refused(lambda: client.list_audit_logs(start=naive).first())
refused(lambda: client.recover_webhooks("e", since=naive))
print(len(sent))`;
    const lines = (await runPython(['-c', code])).trim().split('\n');
    expect(lines[0]).toMatch(/start=2026-01-31T08%3A00%3A00Z.*"since":"2026-01-31T08:00:00Z"/);
    const refused = 'The time 2026-01-31T09:00:00 has no time zone, such as datetime.now(timezone.utc) has.';
    expect(lines.slice(1)).toEqual([refused, refused, '2']);
  });
});

describe('webhooks of the Python SDK', () => {
  const BODY = '{"event":"CARD_UPDATED","session_id":"s","data":{"card_id":"é"}}';
  const whsec = `whsec_${randomBytes(32).toString('base64')}`;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const rawOf = (key: Buffer): Buffer => key.subarray(-32);
  const whpk = `whpk_${rawOf(publicKey.export({ format: 'der', type: 'spki' })).toString('base64')}`;
  const seed = rawOf(privateKey.export({ format: 'der', type: 'pkcs8' }));
  const whsk = `whsk_${seed.toString('base64')}`;

  /** Returns what `webhooks.verify` says of each delivery. */
  async function resultsOf(
    deliveries: readonly { headers: object; secret: unknown; body?: string }[],
  ): Promise<string[]> {
    writeFileSync(join(folder, 'deliveries.json'), JSON.stringify(deliveries));
    const code = `
import json
from merchant_connectivity import SignatureError, webhooks
for each in json.load(open("deliveries.json")):
    try:
        print(webhooks.verify(each.get("body", ${JSON.stringify(BODY)}), each["headers"], each["secret"])["event"])
    except SignatureError as error:
        print(error.reason)
    except ValueError as error:
        print(error)`;
    return (await runPython(['-c', code])).trim().split('\n');
  }

  /** A delivery to an endpoint with a key of its own. \`Service-Signature\` is made with the secret of the client. */
  function delivered(signatureOf: (message: string) => string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const id = 'e1';
    return {
      'Service-Signature': 'of the secret of the client',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureOf(`${id}.${timestamp}.${BODY}`),
    };
  }
  const hmac = (key = whsec): Record<string, string> =>
    delivered(() => new Webhook(key).sign('e1', new Date(), BODY));
  const ed25519 = (): Record<string, string> =>
    delivered((message) => `v1a,${sign(null, Buffer.from(message), privateKey).toString('base64')}`);

  itWithPython('verifies signatures with the key of an endpoint, and rejects others', async () => {
    const other = `whsec_${randomBytes(32).toString('base64')}`;
    const otherPublic = `whpk_${randomBytes(32).toString('base64')}`;
    const changed = BODY.replace('é', 'ö');
    const signed = ed25519()['webhook-signature'] ?? '';
    const rows: (readonly [headers: object, secret: unknown, expected: string, body?: string])[] = [
      [hmac(), whsec, 'CARD_UPDATED'],
      [hmac(), [other, whsec], 'CARD_UPDATED'],
      [hmac(), ['mcs_dev_secret', whsec], 'CARD_UPDATED'],
      [hmac(), other, 'signature'],
      [hmac(), whsec, 'signature', changed],
      [hmac(), whpk, 'signature'],
      [ed25519(), whpk, 'CARD_UPDATED'],
      [ed25519(), [otherPublic, whpk], 'CARD_UPDATED'],
      [ed25519(), otherPublic, 'signature'],
      [ed25519(), whpk, 'signature', changed],
      // Someone who knows the public key must not be able to sign with it.
      [hmac(whpk.replace('whpk_', 'whsec_')), whpk, 'signature'],
      [{ ...ed25519(), 'webhook-signature': signed.replace('v1a', 'v1') }, whpk, 'signature'],
      [{ ...ed25519(), 'webhook-signature': 'v1a,%' }, whpk, 'signature'],
      [{ ...ed25519(), 'webhook-signature': 'v1a,' }, whpk, 'signature'],
      [hmac(), 'whsec_%', expect.stringContaining('malformed') as unknown as string],
      [hmac(), `whsec_${whsec}`, expect.stringContaining('malformed') as unknown as string],
    ];
    const results = await resultsOf(
      rows.map(([headers, secret, , body]) => ({ headers, secret, body: body ?? BODY })),
    );
    expect(results).toEqual(rows.map(([, , expected]) => expected));
  });

  itWithPython('signs as the service does, for tests of receivers', async () => {
    const keys = [['secret'], ['old', 'new'], [whsec], [whsk], ['secret', whsec]];
    const code = `
import json, sys
from datetime import datetime
from merchant_connectivity import webhooks
print(json.dumps([webhooks.sign(${JSON.stringify(BODY)}, keys, id="m", timestamp=datetime.fromtimestamp(1000.5)) for keys in json.loads(sys.argv[1])]))`;
    const headers = JSON.parse(await runPython(['-c', code, JSON.stringify(keys)])) as Record<
      string,
      string
    >[];
    const { deliveryHeaders } = await import('../../src/modules/webhooks/signing/delivery-headers.js');
    const expected = (secret: string, otherSecrets: string[] = []): object => {
      const body = Buffer.from(BODY);
      const now = new Date(1_000_000);
      const delivery = {
        eventId: 'm',
        event: 'CARD_UPDATED',
        sessionId: 's',
        body,
        now,
        secret,
        otherSecrets,
      };
      const { 'User-Agent': _agent, ...others } = deliveryHeaders(delivery);
      return others;
    };
    expect(headers[0]).toEqual(expected('secret'));
    expect(headers[1]).toEqual(expected('old', ['new']));
    const message = Buffer.from(`m.1000.${BODY}`);
    const standard = new Webhook(whsec).sign('m', new Date(1_000_000), BODY);
    expect(headers[2]?.['webhook-signature']).toBe(standard);
    expect(headers[3]?.['webhook-signature']).toBe(
      `v1a,${sign(null, message, privateKey).toString('base64')}`,
    );
    expect(headers[4]).toMatchObject({
      'Service-Signature': headers[0]?.['Service-Signature'],
      'webhook-signature': `${headers[0]?.['webhook-signature']} ${standard}`,
    });
  });

  itWithPython('takes headers as frameworks give them, and the body before any parsing', async () => {
    const code = `
from email.message import Message
from django.http.request import HttpHeaders
from starlette.datastructures import Headers as StarletteHeaders
from werkzeug.datastructures import Headers as WerkzeugHeaders
import httpx
from merchant_connectivity import SignatureError, webhooks
body = ${JSON.stringify(BODY)}
signed = webhooks.sign(body, "s")
message = Message()
for name, value in signed.items():
    message[name] = value
meta = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in signed.items()}
pairs = [(name.lower().encode(), value.encode()) for name, value in signed.items()]
for headers in [signed, message, HttpHeaders(meta), StarletteHeaders(raw=pairs), WerkzeugHeaders(signed), httpx.Headers(signed), dict(pairs), {name: [value] for name, value in signed.items()}]:
    for given in [body, body.encode(), bytearray(body.encode()), memoryview(body.encode())]:
        assert webhooks.verify(given, headers, "s")["event"] == "CARD_UPDATED"
for given in [{"event": "CARD_UPDATED"}, None, 1]:
    try:
        webhooks.verify(given, signed, "s")
    except SignatureError as error:
        assert (error.reason, str(error)) == ("body", "The body is not text or bytes. Give the exact body, before any parsing.")
print("ok")`;
    expect(await runPython(['-c', code])).toBe('ok\n');
  });

  itWithPython('says which package is missing for keys that begin with whpk_', async () => {
    const code = `
import sys
sys.modules["cryptography"] = None
from merchant_connectivity import webhooks
try:
    webhooks.verify("{}", ${JSON.stringify({ ...ed25519() })}, ${JSON.stringify(whpk)})
except ImportError as error:
    print(error)`;
    expect(await runPython(['-c', code])).toContain('install merchant-connectivity[ed25519].');
  });
});
