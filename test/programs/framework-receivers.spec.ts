import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import ts from 'typescript';
// Declares the events of sessions.
import '../../src/modules/sessions/sessions.capability.js';
import { eventBody } from '../../src/modules/webhooks/events/event-body.js';
import { exampleEvent } from '../../src/modules/webhooks/events/event-document.js';
import { deliveryHeaders } from '../../src/modules/webhooks/signing/delivery-headers.js';
import { eventually } from '../support/eventually.js';
import { installClients } from '../support/programs/installed-clients.js';
import { Program, run } from '../support/programs/program.js';
import { hasPythonPackages, installPythonSdk, PYTHONPATH } from '../support/sdks/python-packages.js';

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET = 'mcs_dev_3f9Qk2LrYv7TnXb1Wc8ZpHs5JdMg0RaEu4oViKtBx6N0a1b2c';
const NEW_SECRET = 'mcs_dev_8d1Rm3MsZw8UoYc2Xd9ArIt6KeNh1SbFv5pWjLuCy7P0b2c3d';
const PACKAGES = ['express', 'fastify', 'hono', '@hono/node-server'];
/** Runs the handler of a Next.js route as Next.js does: with requests and responses of the Fetch API. */
const NEXTJS = `
import { serve } from '@hono/node-server';
import { POST } from './route.mjs';
const fetch = (request) => request.method === 'POST' ? POST(request) : new Response(null, { status: 405 });
serve({ fetch, port: Number(process.env.PORT) }, ({ port }) => console.log('http://localhost:' + port + '/webhooks'));
`;

/** An application with the controller and its route, which loads `lib` as applications that Rails 7.1 creates do. */
const RAILS = `
%w[logger rails action_controller/railtie puma rack/handler/puma].each { |name| require name }
class Shop < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = 'x' * 64
  config.hosts.clear
  config.logger = Logger.new($stdout)
  config.eager_load_paths << "#{root}/lib"
  routes.append { post '/webhooks', to: 'webhooks#receive' }
end
Shop.initialize!
Rack::Handler::Puma.run(Shop, Port: ENV['PORT'], Host: '127.0.0.1')
`;

/** An application with the middleware of those that Laravel creates, and with the setting and the route that the controller shows. */
const LARAVEL = String.raw`<?php
require 'Illuminate/autoload.php';
class Kernel extends Illuminate\Foundation\Http\Kernel {
  protected $middleware = [
    Illuminate\Foundation\Http\Middleware\TrimStrings::class,
    Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull::class,
  ];
  protected $middlewareGroups = ['web' => [Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class]];
}
$app = new Illuminate\Foundation\Application(__DIR__);
require __DIR__ . '/app/Http/Controllers/WebhookController.php';
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->booted(fn () => Illuminate\Support\Facades\Route::middleware('web')->group(__DIR__ . '/routes/web.php'));
$app->make(Kernel::class)->handle(Illuminate\Http\Request::capture())->send();
`;
const LARAVEL_FILES = {
  'config/app.php': String.raw`['debug' => false, 'key' => str_repeat('x', 32), 'cipher' => 'AES-256-CBC', 'timezone' => 'UTC',
    'providers' => Illuminate\Support\ServiceProvider::defaultProviders()->toArray()]`,
  'config/logging.php': `['default' => 'log', 'channels' => ['log' => ['driver' => 'errorlog']]]`,
  'config/session.php': `['driver' => 'array']`,
  'config/view.php': `['paths' => []]`,
};

interface Receiver {
  readonly file: string;
  /** The variable with the secret. */
  readonly variable?: string;
  /** Starts without a secret, and responds with 500. */
  readonly startsWithoutSecret?: boolean;
}

const RECEIVERS: Readonly<Record<string, Receiver>> = {
  'docs/webhooks.md': { file: 'receiver.mjs', variable: 'secret' },
  'docs/typescript.md': { file: 'sdk-receiver.mjs', variable: 'secret' },
  Express: { file: 'express.mjs' },
  Fastify: { file: 'fastify.mjs' },
  Hono: { file: 'hono.mjs' },
  'Next.js': { file: 'nextjs.mjs', startsWithoutSecret: true },
};
/** The words after `python3 -m`. The port follows, unless the receiver chooses one. */
const PYTHON: Readonly<Record<string, readonly string[]>> = {
  Flask: ['flask', '--app', 'flask_receiver', 'run', '--port'],
  FastAPI: ['uvicorn', 'fastapi_receiver:app', '--port'],
  Django: ['django_receiver', 'runserver', '--noreload'],
  'the Python SDK and Flask': ['flask', '--app', 'sdk_receiver', 'run', '--port'],
  'the Python SDK': ['page_receiver'],
};
/** As `python3 -m`. */
const PYTHON_MODULE = `
import runpy, sys
sys.argv.pop(0)
runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
`;

let folder: string;
let pythonSdk: string;
const hasPython = hasPythonPackages('flask', 'django', 'fastapi', 'uvicorn', 'httpx');

beforeAll(async () => {
  ({ folder } = await installClients());
  if (hasPython) pythonSdk = await installPythonSdk();
  for (const name of PACKAGES) {
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'test/tools/node_modules', name), join(folder, 'node_modules', name));
  }
  symlinkSync(join(ROOT, 'node_modules/standardwebhooks'), join(folder, 'node_modules/standardwebhooks'));
  cpSync(join(ROOT, 'examples/receivers'), folder, { recursive: true });
  const { outputText } = ts.transpileModule(readFileSync(join(folder, 'nextjs-route.ts'), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(join(folder, 'route.mjs'), outputText);
  writeFileSync(join(folder, 'nextjs.mjs'), NEXTJS);
  writeFileSync(join(folder, 'module.py'), PYTHON_MODULE);
  for (const page of ['webhooks', 'typescript']) {
    const text = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
    const [, name, program] = /```js[^\n]*\n\/\/ ((?:sdk-)?receiver\.mjs)\n(.*?)```/s.exec(text) ?? [];
    // The page has a fixed port, because its reader starts one receiver.
    writeFileSync(join(folder, name ?? ''), (program ?? '').replace('listen(4000)', LISTEN));
  }
  for (const [page, name] of [
    ['webhooks', 'page_receiver'],
    ['python', 'sdk_receiver'],
  ]) {
    const text = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
    const [, program = ''] = /```py[^\n]*\n# (?:sdk_)?receiver\.py\n(.*?)```/s.exec(text) ?? [];
    // The other examples in this folder have a receiver.py.
    writeFileSync(join(folder, `${name}.py`), program.replace('", 0)', '", int(os.environ["PORT"]))'));
  }
}, 60_000);
afterAll(async () => {
  await Program.endAll();
  rmSync(folder, { recursive: true, force: true });
});

const LISTEN = `listen(0, function () { console.log('http://localhost:' + this.address().port + '/webhooks'); })`;

function genuine(change: Readonly<Record<string, string>> = {}, secret = SECRET): RequestInit {
  const event = exampleEvent('AUTHENTICATED');
  const now = new Date();
  const body = eventBody(event, now.getTime());
  const { sessionId } = event;
  const signed = {
    eventId: crypto.randomUUID(),
    event: 'AUTHENTICATED',
    body,
    now,
    secret,
    sessionId,
  };
  const { 'Content-Length': _, ...headers } = deliveryHeaders(signed);
  return { method: 'POST', body: new Uint8Array(body), headers: { ...headers, ...change } };
}

const statusOf = async (url: string, request: RequestInit): Promise<number> => {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(30_000) });
  await response.arrayBuffer();
  return response.status;
};

/** Sends the beginning of a request, and closes the connection. */
async function abort(url: string): Promise<void> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const head = 'POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  socket.write(`${head}Content-Length: 1000\r\nwebhook-id: a\r\n\r\n{"event":`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
}

/** Sends it all of its hostile input, and genuine deliveries in between. */
async function expectToGoOn(url: string): Promise<void> {
  const expectAccepted = async (): Promise<void> => expect(await statusOf(url, genuine())).toBe(200);
  await expectAccepted();
  expect(await statusOf(url, genuine({ 'webhook-id': 'another' }))).toBe(401);
  for (let count = 0; count < 3; count += 1) await abort(url);
  await expectAccepted();
  const large = await statusOf(url, { ...genuine(), body: 'x'.repeat(10_000_000) }).catch(() => 413);
  expect(large).toBe(413);
  const { headers } = genuine();
  expect(await statusOf(url, { method: 'POST' })).toBe(401);
  expect(await statusOf(url, { method: 'POST', headers: headers as Record<string, string> })).toBe(401);
  expect([401, 404, 405, 501]).toContain(await statusOf(url, { method: 'GET' }));
  const many = await Promise.all(Array.from({ length: 100 }, () => statusOf(url, genuine())));
  expect(new Set(many)).toEqual(new Set([200]));
}

/** Sends deliveries that are signed with the old secret, the new one, and an unknown one. */
async function expectBothSecrets(url: string): Promise<void> {
  expect(await statusOf(url, genuine())).toBe(200);
  expect(await statusOf(url, genuine({}, NEW_SECRET))).toBe(200);
  expect(await statusOf(url, genuine({}, `${SECRET} ${NEW_SECRET}`))).toBe(401);
}

describe.each(Object.entries(RECEIVERS))('The receiver of %s', (_name, receiver) => {
  const { file, variable = 'WEBHOOK_SECRET', startsWithoutSecret } = receiver;

  it('accepts genuine deliveries, and survives everything else', async () => {
    const program = new Program(join(folder, file), {
      environment: { [variable]: SECRET, PORT: '0' },
      folder,
    });
    const [url] = await program.waitForOutput(/http:\S+/);
    await expectToGoOn(url.replace('localhost', '127.0.0.1'));
    program.signal('SIGTERM');
    await program.ended;
  }, 120_000);

  // The programs of the pages show one key.
  if (variable === 'WEBHOOK_SECRET') {
    it('accepts either secret during a rotation', async () => {
      const program = new Program(join(folder, file), {
        environment: { [variable]: `${SECRET} ${NEW_SECRET}`, PORT: '0' },
        folder,
      });
      const [url] = await program.waitForOutput(/http:\S+/);
      await expectBothSecrets(url.replace('localhost', '127.0.0.1'));
      program.signal('SIGTERM');
      await program.ended;
    }, 60_000);
  }

  if (startsWithoutSecret) return;
  it('does not start without a secret', async () => {
    const { code, errors } = await run(join(folder, file), { environment: { PORT: '0' }, folder });
    expect([code, errors]).toEqual([1, expect.stringMatching(/Set (?:WEBHOOK_SECRET|secret) to the secret/)]);
  });
});

describe('The route for Next.js', () => {
  it('exports its handler alone, because builds with cacheComponents refuse settings such as runtime', () => {
    const text = readFileSync(join(folder, 'nextjs-route.ts'), 'utf8');
    expect([...text.matchAll(/^export (.*)\(/gm)].map(([, name]) => name)).toEqual(['async function POST']);
    expect(text).not.toMatch(/^export const/m);
  });
});

const describePython = hasPython ? describe : describe.skip;

describePython.each(Object.entries(PYTHON))('The receiver with %s', (name, [...words]) => {
  const start = (port: number, secret?: string): Program =>
    new Program(join(folder, 'module.py'), {
      node: 'python3',
      arguments: [...words, ...(words.length > 1 ? [String(port)] : [])],
      folder,
      environment: {
        PORT: String(port),
        PYTHONPATH: `${pythonSdk}:${PYTHONPATH}`,
        PYTHONUNBUFFERED: '1',
        ...(secret && { WEBHOOK_SECRET: secret, secret }),
      },
    });

  it('accepts genuine deliveries, and survives everything else', async () => {
    const port = await freePort();
    start(port, SECRET);
    const url = `http://127.0.0.1:${port}/webhooks`;
    await eventually('the receiver responds', () => statusOf(url, genuine()).catch(() => undefined), 30_000);
    await expectToGoOn(url);
  }, 120_000);

  if (!name.startsWith('the Python SDK')) {
    it('accepts either secret during a rotation', async () => {
      const port = await freePort();
      start(port, `${SECRET} ${NEW_SECRET}`);
      const url = `http://127.0.0.1:${port}/webhooks`;
      await eventually(
        'the receiver responds',
        () => statusOf(url, genuine()).catch(() => undefined),
        30_000,
      );
      await expectBothSecrets(url);
    }, 60_000);
  }

  it('does not start without a secret', async () => {
    const { code, errors } = await start(await freePort()).ended;
    expect([code, errors]).toEqual([1, expect.stringMatching(/Set (?:WEBHOOK_SECRET|secret) to the secret/)]);
  }, 60_000);
});

const hasRails = spawnSync('ruby', ['-e', RAILS.split('\n')[1] ?? '']).status === 0;

(hasRails ? describe : describe.skip)('The receiver with Rails', () => {
  let shop: string;
  const start = (port: number, secret?: string): Program =>
    new Program(join(shop, 'shop.rb'), {
      node: 'ruby',
      folder: shop,
      environment: { PORT: String(port), RAILS_ENV: 'production', ...(secret && { WEBHOOK_SECRET: secret }) },
    });

  beforeAll(() => {
    shop = join(folder, 'shop');
    for (const name of ['app/controllers', 'lib', 'vendor']) mkdirSync(join(shop, name), { recursive: true });
    writeFileSync(join(shop, 'shop.rb'), RAILS);
    const controller = readFileSync(join(folder, 'rails_controller.rb'), 'utf8');
    writeFileSync(join(shop, 'app/controllers/webhooks_controller.rb'), controller);
    const [, target = ''] = /receiver\.rb to (\w+)/.exec(controller) ?? [];
    cpSync(join(folder, 'receiver.rb'), join(shop, target, 'receiver.rb'));
  });

  itReceives(start);

  it('neither parses nor logs bodies of others', async () => {
    const port = await freePort();
    const program = start(port, SECRET);
    const url = await urlOf(port);
    const { headers } = genuine();
    const post = { method: 'POST', headers: headers as Record<string, string> };
    expect(await statusOf(url, { ...post, body: new Uint8Array(Buffer.from('{"\xff":1}', 'latin1')) })).toBe(
      401,
    );
    expect(await statusOf(url, { ...post, body: '{"of":"another"}' })).toBe(401);
    expect(program.output).toContain('POST');
    expect(program.output).not.toContain('another');
  }, 60_000);

  it('does not start without a secret', async () => {
    const { code, errors } = await start(await freePort()).ended;
    expect([code, errors]).toEqual([1, expect.stringContaining('WEBHOOK_SECRET')]);
  }, 60_000);
});

const hasLaravel = spawnSync('php', ['-r', LARAVEL.split('\n')[1] ?? '']).status === 0;

(hasLaravel ? describe : describe.skip)('The receiver with Laravel', () => {
  let shop: string;
  const start = (port: number, secret: string): Program =>
    new Program(join(shop, 'start'), {
      node: 'sh',
      folder: shop,
      environment: { PORT: String(port), WEBHOOK_SECRET: secret },
    });

  beforeAll(() => {
    shop = join(folder, 'laravel');
    for (const name of ['app/Http/Controllers', 'bootstrap/cache', 'config', 'routes'])
      mkdirSync(join(shop, name), { recursive: true });
    const controller = readFileSync(join(folder, 'laravel_controller.php'), 'utf8');
    const shown = (pattern: RegExp): string => pattern.exec(controller)?.[0] ?? '';
    const files = {
      ...LARAVEL_FILES,
      'config/services.php': `[${shown(/'webhooks' => .*/)}]`,
    };
    for (const [name, value] of Object.entries(files))
      writeFileSync(join(shop, name), `<?php return ${value};`);
    writeFileSync(
      join(shop, 'routes/web.php'),
      `<?php use Illuminate\\Support\\Facades\\Route; ${shown(/Route::post.*/)}`,
    );
    writeFileSync(join(shop, 'index.php'), LARAVEL);
    writeFileSync(join(shop, 'start'), 'exec php -d post_max_size=20M -S "127.0.0.1:$PORT" index.php');
    writeFileSync(join(shop, 'app/Http/Controllers/WebhookController.php'), controller);
    cpSync(join(folder, 'receiver.php'), join(shop, 'app/receiver.php'));
  });

  itReceives(start);
});

/** Tests a receiver. @param start starts it on a port, with a secret or with several */
function itReceives(start: (port: number, secret: string) => void): void {
  it('accepts genuine deliveries, and survives everything else', async () => {
    const port = await freePort();
    start(port, SECRET);
    await expectToGoOn(await urlOf(port));
  }, 120_000);

  it('accepts either secret during a rotation', async () => {
    const port = await freePort();
    start(port, `${SECRET} ${NEW_SECRET}`);
    await expectBothSecrets(await urlOf(port));
  }, 60_000);
}

/** Waits until the receiver responds. */
async function urlOf(port: number): Promise<string> {
  const url = `http://127.0.0.1:${port}/webhooks`;
  await eventually('the receiver responds', () => statusOf(url, genuine()).catch(() => undefined), 30_000);
  return url;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
