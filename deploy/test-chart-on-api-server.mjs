/*
 * Applies the chart to a real API server, without nodes: `kube-apiserver` and `etcd`, both built from their Go modules. This
 * program completes the migration's Job, which otherwise a node would run.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';

const VERSIONS = { kubernetes: '1.37.1', etcd: '3.7.2' };
const PROGRAMS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
};
const TOKEN = 'test-token';
const NAMESPACE = 'default';
/** The worker gets another value of a setting, which must occur only once. */
const CHANGES = [
  '--set=image.tag=0.4.1,api.replicas=3',
  '--set-json=worker.extraEnv=[{"name":"MAIL_FROM","value":"worker@example.com"}]',
];
/** Every kind that the chart creates, except claims, which stay, and those with definitions of their own. */
const KINDS = {
  deployments: 'apis/apps/v1',
  services: 'api/v1',
  poddisruptionbudgets: 'apis/policy/v1',
  networkpolicies: 'apis/networking.k8s.io/v1',
  ingresses: 'apis/networking.k8s.io/v1',
  jobs: 'apis/batch/v1',
  horizontalpodautoscalers: 'apis/autoscaling/v2',
  serviceaccounts: 'api/v1',
};

export default async function testOnApiServer({ folder, chart, bin, helmVersion }) {
  build(bin, helmVersion);
  const [clientPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const children = [];
  try {
    const etcd = `http://127.0.0.1:${clientPort}`;
    children.push(
      start('etcd', folder, [
        `--data-dir=${join(folder, 'etcd')}`,
        `--listen-client-urls=${etcd}`,
        `--advertise-client-urls=${etcd}`,
        `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      ]),
    );
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    const key = join(certificates, 'accounts.key');
    execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' });
    const tokens = join(folder, 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},operator,operator,system:masters\n`);
    children.push(
      start('kube-apiserver', folder, [
        `--etcd-servers=${etcd}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--secure-port=${port}`,
        `--cert-dir=${certificates}`,
        `--token-auth-file=${tokens}`,
        '--authorization-mode=RBAC',
        '--service-account-issuer=https://localhost',
        `--service-account-signing-key-file=${key}`,
        `--service-account-key-file=${key}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        '--endpoint-reconciler-type=none',
      ]),
    );
    await apply({ folder, chart, port });
  } finally {
    // Without etcd, the API server does not end within minutes.
    for (const child of children.toReversed()) {
      child.kill('SIGTERM');
      await child.ended;
    }
  }
}

/**
 * Builds what is not on the PATH. `go install` refuses both modules, because they refer to folders of their repositories. This
 * module requires them instead, with the published versions of those folders.
 */
function build(bin, helmVersion) {
  const missing = Object.entries(PROGRAMS).filter(
    ([program]) => spawnSync(program, ['--version']).status !== 0,
  );
  if (missing.length === 0) return;
  const go = (words, cwd) =>
    execFileSync('go', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const module = join(bin, '../api-server');
  mkdirSync(module, { recursive: true });
  const { GoMod } = JSON.parse(
    go(['mod', 'download', '-json', `k8s.io/kubernetes@v${VERSIONS.kubernetes}`], module),
  );
  const parts = [...readFileSync(GoMod, 'utf8').matchAll(/^\t(k8s\.io\/\S+) v0\.0\.0$/gm)];
  writeFileSync(
    join(module, 'go.mod'),
    [
      'module api-server',
      /^go .+$/m.exec(readFileSync(GoMod, 'utf8'))[0],
      `require k8s.io/kubernetes v${VERSIONS.kubernetes}`,
      `require go.etcd.io/etcd/server/v3 v${VERSIONS.etcd}`,
      // Only for the versions of the packages that it has in common with the others: they are compiled once.
      `require helm.sh/helm/v4 ${helmVersion}`,
      ...parts.map(([, part]) => `replace ${part} => ${part} v0${VERSIONS.kubernetes.slice(1)}`),
      '',
    ].join('\n'),
  );
  // Without the version, the API server would say that it is 0.0.0, which the chart refuses.
  const flags = `-s -w -X k8s.io/component-base/version.gitVersion=v${VERSIONS.kubernetes}`;
  for (const [program, source] of missing) {
    say(`building ${program}`);
    go(['build', '-mod=mod', '-ldflags', flags, '-o', join(bin, program), source], module);
  }
}

async function apply({ folder, chart, port }) {
  const api = (path, options) => send(port, path, options);
  await eventually('the API server is ready', async () => (await api('readyz')).status === 200);
  await eventually(
    'the namespace exists',
    async () => (await api(`api/v1/namespaces/${NAMESPACE}`)).status === 200,
  );
  const { body: version } = await api('version');
  say(`kube-apiserver ${version.gitVersion}`);

  const config = join(folder, 'kubeconfig');
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'u', user: { token: TOKEN } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: NAMESPACE } }],
      'current-context': 'x',
    }),
    { mode: 0o600 },
  );
  const helm = async (...words) => {
    const child = spawn('helm', words, { env: { ...process.env, KUBECONFIG: config } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    let code;
    child.on('close', (each) => (code = each));
    let migrations = 0;
    try {
      await eventually(`helm ${words[0]} ends`, async () => {
        if (code === undefined) migrations += await completeJobs(api);
        return code !== undefined;
      });
    } catch (error) {
      child.kill();
      throw new Error(`${error.message}: ${output}`, { cause: error });
    }
    if (code !== 0) throw new Error(`helm ${words.join(' ')}: ${output}`);
    return migrations;
  };
  const count = async () => {
    const found = {};
    for (const [kind, group] of Object.entries(KINDS)) {
      const query = `labelSelector=${encodeURIComponent('app.kubernetes.io/instance=mcs')}`;
      const { body } = await api(`${group}/namespaces/${NAMESPACE}/${kind}?${query}`);
      if (body.items.length > 0) found[kind] = body.items.length;
    }
    return JSON.stringify(found);
  };
  const image = async () => {
    const { body } = await api(
      `apis/apps/v1/namespaces/${NAMESPACE}/deployments/mcs-merchant-connectivity-api`,
    );
    return `${body.spec.template.spec.containers[0].image.split(':')[1]} × ${body.spec.replicas}`;
  };
  const expect = (what, actual, expected) => {
    if (actual !== expected) throw new Error(`${what}: expected ${expected}, not ${actual}`);
    say(`${what}: ${actual}`);
  };

  const values = ['--values', join(chart, 'ci/example-values.yaml')];
  const all = JSON.stringify({
    deployments: 2,
    services: 1,
    poddisruptionbudgets: 2,
    networkpolicies: 1,
    ingresses: 1,
  });
  expect('migrations at the installation', await helm('install', 'mcs', chart, ...values), 1);
  expect('objects', await count(), all);
  expect('image', await image(), '0.4.0 × 2');
  expect('migrations at the upgrade', await helm('upgrade', 'mcs', chart, ...values, ...CHANGES), 1);
  expect('image', await image(), '0.4.1 × 3');
  expect('migrations at the rollback', await helm('rollback', 'mcs', '1'), 0);
  expect('image', await image(), '0.4.0 × 2');
  expect('objects', await count(), all);
  await helm('uninstall', 'mcs');
  expect('objects after the removal', await count(), '{}');
  await admit(api, join(chart, 'ci/production-values.yaml'), chart);
}

/** Lets the API server judge the pods of the example for production by the Pod Security Standard `restricted`. */
async function admit(api, values, chart) {
  const created = async (path, body) => {
    const { status, body: answer } = await api(path, { method: 'POST', body });
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  };
  const name = 'restricted';
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await created('api/v1/namespaces', { metadata: { name, labels } });
  await created(`api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  const text = execFileSync('helm', ['template', 'mcs', chart, '--values', values], { encoding: 'utf8' });
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  const pods = objects.map((object) => object?.spec?.template?.spec ?? object?.spec);
  for (const spec of pods.filter((each) => each?.containers))
    await created(`api/v1/namespaces/${name}/pods?dryRun=All`, { metadata: { name: 'a' }, spec });
  say('all pods comply with the Pod Security Standard "restricted"');
}

/** Marks Jobs as complete, as the controller does when their pod has succeeded. @returns how many */
async function completeJobs(api) {
  const { body } = await api(`apis/batch/v1/namespaces/${NAMESPACE}/jobs`);
  const open = (body.items ?? []).filter(({ status }) => !status?.completionTime);
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type) => ({ type, status: 'True', lastProbeTime: now, lastTransitionTime: now });
  const status = {
    startTime: now,
    completionTime: now,
    succeeded: 1,
    uncountedTerminatedPods: {},
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
  for (const { metadata } of open) {
    const path = `apis/batch/v1/namespaces/${NAMESPACE}/jobs/${metadata.name}/status`;
    const response = await api(path, { method: 'PATCH', body: { status } });
    if (response.status !== 200)
      throw new Error(`The Job cannot be completed: ${JSON.stringify(response.body)}`);
  }
  return open.length;
}

/** The certificate of the API server is its own; the connection stays on this machine. */
function send(port, path, { method = 'GET', body } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, accept: 'application/json' };
    if (body) headers['content-type'] = `application/${method === 'PATCH' ? 'merge-patch+' : ''}json`;
    const sent = request(
      `https://127.0.0.1:${port}/${path}`,
      { method, headers, rejectUnauthorized: false },
      async (response) => {
        const text = (await response.toArray()).join('');
        const isJson = response.headers['content-type']?.includes('json');
        resolve({ status: response.statusCode, body: isJson ? JSON.parse(text) : text });
      },
    );
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

async function eventually(what, isTrue) {
  const deadline = performance.now() + 300_000;
  for (;;) {
    if (await isTrue().catch((error) => (error.code === 'ECONNREFUSED' ? false : Promise.reject(error))))
      return;
    if (performance.now() > deadline) throw new Error(`Not true after 5 minutes: ${what}`);
    await pause(200);
  }
}

function start(program, folder, words) {
  const log = join(folder, `${program}.log`);
  const child = spawn('sh', ['-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', log, program, ...words]);
  child.ended = new Promise((resolve) => child.once('close', resolve));
  child.once('exit', (code) => {
    if (code) process.stderr.write(readFileSync(log, 'utf8').slice(-3000));
  });
  return child;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function say(sentence) {
  process.stdout.write(`── ${sentence}\n`);
}
