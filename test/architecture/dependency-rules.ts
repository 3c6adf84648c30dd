import ts from 'typescript';
import {
  at,
  everyNode,
  topFolderOf,
  importsOf,
  isInfrastructure,
  isModule,
  treesOf,
  type Import,
  type Sources,
} from './source-tree.js';

/**
 * The modules that each module may import, through their `index.ts`. No module may import `sandbox`. Before you add a
 * dependency, consider whether the imported code belongs in `infrastructure`.
 */
export const MODULE_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  'agent-authorization': ['api-clients', 'audit-logs', 'mcp-tokens', 'oauth', 'organizations', 'webhooks'],
  'agent-connector': [
    'detected-accounts',
    'merchant-accounts',
    'merchant-statuses',
    'merchants',
    'sign-in-links',
    'webhooks',
  ],
  'allowlisted-domains': ['audit-logs'],
  'api-clients': ['audit-logs'],
  'audit-logs': [],
  'audit-streams': ['audit-logs'],
  careers: [],
  'dashboard-login': ['dashboard-users', 'audit-logs'],
  'dashboard-users': ['allowlisted-domains', 'audit-logs'],
  'detected-accounts': ['merchants', 'api-clients', 'webhooks'],
  documentation: [],
  events: ['api-clients', 'merchants', 'sessions', 'webhooks'],
  'external-users': ['api-clients', 'audit-logs'],
  health: [],
  'mcp-tokens': ['api-clients'],
  'merchant-accounts': ['merchants'],
  'merchant-gateway': ['merchant-accounts', 'merchants', 'webhooks'],
  'merchant-statuses': ['merchants', 'webhooks'],
  merchants: ['audit-logs'],
  oauth: ['dashboard-users', 'api-clients', 'mcp-tokens', 'audit-logs'],
  overview: [
    'agent-authorization',
    'dashboard-users',
    'external-users',
    'mcp-tokens',
    'merchant-accounts',
    'merchants',
    'request-logs',
    'sessions',
    'sign-in-links',
    'webhook-endpoints',
    'webhooks',
  ],
  organizations: ['api-clients', 'audit-logs', 'dashboard-users'],
  'request-logs': [],
  'saved-filters': [],
  'service-tokens': [],
  sessions: ['api-clients', 'webhooks'],
  'sign-in-links': [
    'api-clients',
    'audit-logs',
    'mcp-tokens',
    'merchant-accounts',
    'merchant-gateway',
    'merchant-statuses',
    'merchants',
    'organizations',
    'sessions',
    'webhooks',
  ],
  'single-sign-on': ['allowlisted-domains', 'audit-logs', 'dashboard-login', 'dashboard-users'],
  sandbox: ['detected-accounts', 'merchant-accounts', 'merchants', 'sessions', 'webhooks'],
  'webhook-endpoints': ['api-clients', 'audit-logs', 'request-logs'],
  webhooks: [
    'api-clients',
    'request-logs',
    'audit-logs',
    'dashboard-users',
    'merchant-accounts',
    'webhook-endpoints',
  ],
};

/** The layers from top to bottom. Each may import the layers below it. */
const LAYERS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'program', pattern: /^src\/(?:(?:main|worker|openapi|reference)\.ts$|cli\/)/ },
  { name: 'application', pattern: /^src\/application\.ts$/ },
  { name: 'app.module', pattern: /^src\/(?:app|ports)\.module\.ts$/ },
  { name: 'module', pattern: /^src\/modules\/[^/]+\// },
  { name: 'infrastructure', pattern: /^src\/infrastructure\/[^/]+\// },
];

const layerOf = (path: string): number => LAYERS.findIndex(({ pattern }) => pattern.test(path));

/** Finds imports of a higher layer: programs -> application -> app.module -> modules -> infrastructure. */
export function findUpwardImports(sources: Sources): string[] {
  const unassigned = [...sources.keys()]
    .filter((path) => layerOf(path) < 0)
    .map(
      (path) =>
        `${path} belongs to no layer: move it to the module or the infrastructure folder that it is part of.`,
    );
  const upward = internalImports(sources)
    .filter(({ from, to }) => {
      const [user, used] = [layerOf(from), layerOf(to)];
      if (user < 0 || used < 0) return false;
      return used < user || (used === user && LAYERS[user]?.name === 'program' && !bothInCli(from, to));
    })
    .map(({ from, to }) => `${from} imports ${to}, ${remedyForUpwardImport(from, to)}`);
  return [...unassigned, ...upward];
}

function remedyForUpwardImport(from: string, to: string): string {
  if (isInfrastructure(from) && isModule(to)) {
    return 'a higher layer: declare a port (an abstract class) in infrastructure, which the module implements and provides.';
  }
  if (layerOf(from) === layerOf(to))
    return 'another program: programs are entry points; move what both need to application.ts or infrastructure.';
  return `a higher layer: move the code that ${from} needs to a module or to infrastructure.`;
}

const bothInCli = (from: string, to: string): boolean =>
  from.startsWith('src/cli/') && to.startsWith('src/cli/');

/** Finds imports of a module or an infrastructure folder that bypass its `index.ts`. */
export function findBypassedIndexes(sources: Sources): string[] {
  return internalImports(sources).flatMap(({ from, to }) => {
    const folder = topFolderOf(to);
    if (!folder || folder === topFolderOf(from) || to === `${folder}/index.ts`) return [];
    const alternative = isModule(to) ? ', or move it to infrastructure' : '';
    return [
      `${from} imports ${to}, bypassing index.ts: export what you need from ${folder}/index.ts${alternative}.`,
    ];
  });
}

/** Finds imports between modules that the table does not list. */
export function findUndeclaredDependencies(
  sources: Sources,
  table: Readonly<Record<string, readonly string[]>> = MODULE_DEPENDENCIES,
): string[] {
  const missing = [...new Set([...sources.keys()].filter(isModule).map(moduleOf))]
    .filter((name) => !(name in table))
    .map(
      (name) =>
        `The module ${name} is not in MODULE_DEPENDENCIES: add it there, with the modules that it may use.`,
    );
  const unknown = internalImports(sources)
    .filter(({ from, to }) => isModule(from) && isModule(to) && moduleOf(from) !== moduleOf(to))
    .flatMap(({ from, to }) => {
      const [user, used] = [moduleOf(from), moduleOf(to)];
      if (used === 'sandbox') {
        return [
          `${from} imports ${to}: no module may import sandbox; move what you need to a module that both may import.`,
        ];
      }
      if (table[user]?.includes(used) ?? !(user in table)) return [];
      return [
        `${from} imports ${to}, but ${user} -> ${used} is not in MODULE_DEPENDENCIES: let the calling code pass what is ` +
          'needed, move it to infrastructure, or add the dependency.',
      ];
    });
  return [...missing, ...unknown];
}

const moduleOf = (path: string): string => path.split('/')[2] ?? '';

/** Finds import cycles of files, of infrastructure folders, and of modules. Imports of types count too. */
export function findCycles(sources: Sources): string[] {
  const inner = internalImports(sources);
  const between = (folderOf: (path: string) => string | undefined): [string, string][] =>
    inner.flatMap(({ from, to }) => {
      const [user, used] = [folderOf(from), folderOf(to)];
      return user && used && user !== used ? [[user, used]] : [];
    });
  const infrastructureFolder = (path: string): string | undefined =>
    isInfrastructure(path) ? topFolderOf(path) : undefined;
  const moduleFolder = (path: string): string | undefined => (isModule(path) ? topFolderOf(path) : undefined);
  return [
    ...cyclesOf(between((path) => path)).map(
      (cycle) => `${cycle}: these files import each other in a cycle; move what they share to another file.`,
    ),
    ...cyclesOf(between(infrastructureFolder)).map(
      (cycle) =>
        `${cycle}: these folders depend on each other; move what they share to one of them, or to a new folder.`,
    ),
    ...cyclesOf(between(moduleFolder)).map(
      (cycle) =>
        `${cycle}: these modules depend on each other; declare a port in one that the other implements, or merge them.`,
    ),
  ];
}

/** Returns cycles of the graph as `a -> b -> a`, at least one for each group of nodes that depend on each other. */
function cyclesOf(edges: readonly (readonly [string, string])[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const trail: string[] = [];
  const found: string[] = [];
  const walk = (node: string): void => {
    const start = trail.indexOf(node);
    if (start >= 0) {
      found.push([...trail.slice(start), node].join(' -> '));
      return;
    }
    if (done.has(node)) return;
    trail.push(node);
    for (const neighbor of next.get(node) ?? []) walk(neighbor);
    trail.pop();
    done.add(node);
  };
  for (const node of next.keys()) walk(node);
  return found;
}

export function findForwardReferences(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ values }) => values.includes('forwardRef'))
    .map(
      ({ from }) =>
        `${from} uses forwardRef, which hides a cycle: invert one of the two dependencies with a port.`,
    );
}

/** Finds guards that are declared outside of infrastructure, and modules that `auth` imports. */
export function findForbiddenGuards(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    if (isInfrastructure(path)) continue;
    everyNode(tree, (node) => {
      if (!ts.isClassLike(node) || !looksLikeGuard(node)) return;
      found.push(
        `${at(path, tree, node)} declares the guard ${node.name?.text ?? ''}: move it to infrastructure/auth ` +
          'behind a port that the module implements, or use a guard of infrastructure.',
      );
    });
  }
  const importing = internalImports(sources)
    .filter(({ from, to }) => from.startsWith('src/infrastructure/auth/') && isModule(to))
    .map(
      ({ from, to }) =>
        `${from} imports ${to}: guards may import ports only; declare an abstract class next to the guard and let the module provide it.`,
    );
  return [...found, ...importing];
}

function looksLikeGuard(node: ts.ClassLikeDeclaration): boolean {
  const isGuardName = (name: string): boolean =>
    name === 'CanActivate' || /^(?:AuthGuard|\w+Guard)$/.test(name);
  return (
    (node.name?.text ?? '').endsWith('Guard') ||
    baseNamesOf(node, ts.SyntaxKind.ImplementsKeyword).some(isGuardName) ||
    baseNamesOf(node, ts.SyntaxKind.ExtendsKeyword).some(isGuardName)
  );
}

/** Returns the names after `extends` or `implements`. For `extends AuthGuard('basic')`, returns `AuthGuard`. */
function baseNamesOf(
  node: ts.ClassLikeDeclaration,
  keyword: ts.SyntaxKind.ExtendsKeyword | ts.SyntaxKind.ImplementsKeyword,
): string[] {
  return (node.heritageClauses ?? [])
    .filter((clause) => clause.token === keyword)
    .flatMap((clause) => [...clause.types])
    .map(({ expression }) =>
      (ts.isCallExpression(expression) ? expression.expression : expression).getText(),
    );
}

function internalImports(sources: Sources): (Import & { readonly to: string })[] {
  return importsOf(sources).filter((each): each is Import & { to: string } => each.to !== undefined);
}
