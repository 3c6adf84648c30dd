import ts from 'typescript';
import {
  at,
  everyNode,
  houseFolderOf,
  importsOf,
  isInfrastructure,
  isModule,
  treesOf,
  type Import,
  type Sources,
} from './source-tree.js';

/**
 * Which modules a module may use, through their `index.ts`: all there is. Nobody uses `sandbox`, which may
 * use all. A new arrow is a decision: think first whether the thing belongs into `infrastructure`.
 */
export const MODULE_ARROWS: Readonly<Record<string, readonly string[]>> = {
  'allowlisted-domains': ['audit-logs'],
  'api-clients': ['audit-logs'],
  'audit-logs': [],
  careers: [],
  'dashboard-login': ['dashboard-users', 'audit-logs'],
  'dashboard-users': ['allowlisted-domains', 'audit-logs'],
  'detected-accounts': ['merchants', 'api-clients', 'webhooks'],
  health: [],
  'mcp-tokens': [],
  merchants: ['audit-logs'],
  oauth: ['dashboard-users', 'api-clients', 'mcp-tokens', 'audit-logs'],
  organizations: ['api-clients', 'audit-logs', 'dashboard-users'],
  'request-logs': [],
  'saml-configurations': ['audit-logs'],
  sessions: ['api-clients'],
  'webhook-endpoints': ['api-clients', 'audit-logs'],
  sandbox: ['detected-accounts', 'merchants', 'sessions', 'webhooks'],
  webhooks: ['webhook-endpoints', 'api-clients', 'request-logs', 'audit-logs'],
};

/** From the outside in: each may import those behind it. */
const LAYERS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'program', pattern: /^src\/(?:(?:main|worker|openapi|reference)\.ts$|cli\/)/ },
  { name: 'application', pattern: /^src\/application\.ts$/ },
  { name: 'app.module', pattern: /^src\/(?:app|ports)\.module\.ts$/ },
  { name: 'module', pattern: /^src\/modules\/[^/]+\// },
  { name: 'infrastructure', pattern: /^src\/infrastructure\/[^/]+\// },
];

const layerOf = (path: string): number => LAYERS.findIndex(({ pattern }) => pattern.test(path));

/** programs -> application -> app.module -> modules -> infrastructure, never back. */
export function turnedArrows(sources: Sources): string[] {
  const homeless = [...sources.keys()]
    .filter((path) => layerOf(path) < 0)
    .map(
      (path) =>
        `${path} belongs to no layer: put it into the module or the infrastructure folder that it is part of.`,
    );
  const turned = innerImports(sources)
    .filter(({ from, to }) => {
      const [outer, inner] = [layerOf(from), layerOf(to)];
      if (outer < 0 || inner < 0) return false;
      return inner < outer || (inner === outer && LAYERS[outer]?.name === 'program' && !bothInCli(from, to));
    })
    .map(({ from, to }) => `${from} imports ${to}, against the arrows: ${remedyForTurned(from, to)}`);
  return [...homeless, ...turned];
}

function remedyForTurned(from: string, to: string): string {
  if (isInfrastructure(from) && isModule(to)) {
    return 'declare a port (an abstract class) in infrastructure, which the module implements and provides.';
  }
  if (layerOf(from) === layerOf(to))
    return 'programs are entry points; move what both need into application.ts or infrastructure.';
  return `move what is needed there to where ${from} may reach it: a module, or infrastructure.`;
}

const bothInCli = (from: string, to: string): boolean =>
  from.startsWith('src/cli/') && to.startsWith('src/cli/');

/** A folder of the house is entered through its `index.ts` alone. */
export function bypassedDoors(sources: Sources): string[] {
  return innerImports(sources).flatMap(({ from, to }) => {
    const folder = houseFolderOf(to);
    if (!folder || folder === houseFolderOf(from) || to === `${folder}/index.ts`) return [];
    const alternative = isModule(to) ? ', or move it to infrastructure' : '';
    return [
      `${from} imports ${to}, past the door: export what you need from ${folder}/index.ts${alternative}.`,
    ];
  });
}

/** Modules use only the modules that the table names. */
export function unknownModuleArrows(
  sources: Sources,
  table: Readonly<Record<string, readonly string[]>> = MODULE_ARROWS,
): string[] {
  const missing = [...new Set([...sources.keys()].filter(isModule).map(moduleOf))]
    .filter((name) => !(name in table))
    .map(
      (name) => `The module ${name} is not in MODULE_ARROWS: add it there, with the modules that it may use.`,
    );
  const unknown = innerImports(sources)
    .filter(({ from, to }) => isModule(from) && isModule(to) && moduleOf(from) !== moduleOf(to))
    .flatMap(({ from, to }) => {
      const [user, used] = [moduleOf(from), moduleOf(to)];
      if (used === 'sandbox') {
        return [`${from} imports ${to}: nobody uses sandbox; move what you need to where both may reach it.`];
      }
      if (table[user]?.includes(used) ?? !(user in table)) return [];
      return [
        `${from} imports ${to}, but ${user} -> ${used} is not in MODULE_ARROWS: let the caller pass what is ` +
          'needed, move it to infrastructure, or make the decision and add the arrow (docs/decisions).',
      ];
    });
  return [...missing, ...unknown];
}

const moduleOf = (path: string): string => path.split('/')[2] ?? '';

/** No circle of files, of infrastructure folders, or of modules. Types count: whoever reads has to go round. */
export function circles(sources: Sources): string[] {
  const inner = innerImports(sources);
  const between = (folderOf: (path: string) => string | undefined): [string, string][] =>
    inner.flatMap(({ from, to }) => {
      const [user, used] = [folderOf(from), folderOf(to)];
      return user && used && user !== used ? [[user, used]] : [];
    });
  const infrastructureFolder = (path: string): string | undefined =>
    isInfrastructure(path) ? houseFolderOf(path) : undefined;
  const moduleFolder = (path: string): string | undefined =>
    isModule(path) ? houseFolderOf(path) : undefined;
  return [
    ...circlesIn(between((path) => path)).map(
      (circle) => `${circle}: these files import each other in a circle; move what they share into a third.`,
    ),
    ...circlesIn(between(infrastructureFolder)).map(
      (circle) =>
        `${circle}: these folders stand on each other; move what they share into the lower of them, or into one of its own.`,
    ),
    ...circlesIn(between(moduleFolder)).map(
      (circle) =>
        `${circle}: these modules use each other; let one declare a port that the other implements, or join them.`,
    ),
  ];
}

/** One circle of each knot, as `a -> b -> a`. */
function circlesIn(arrows: readonly (readonly [string, string])[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of arrows) next.set(from, (next.get(from) ?? new Set()).add(to));
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
    for (const neighbour of next.get(node) ?? []) walk(neighbour);
    trail.pop();
    done.add(node);
  };
  for (const node of next.keys()) walk(node);
  return found;
}

export function forwardReferences(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ values }) => values.includes('forwardRef'))
    .map(
      ({ from }) =>
        `${from} uses forwardRef, which hides a circle: turn one of the two arrows around with a port.`,
    );
}

/** Modules declare no guards; they use those of infrastructure, through options. `auth` imports no module. */
export function strayGuards(sources: Sources): string[] {
  const stray: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    if (isInfrastructure(path)) continue;
    everyNode(tree, (node) => {
      if (!ts.isClassLike(node) || !looksLikeGuard(node)) return;
      stray.push(
        `${at(path, tree, node)} declares the guard ${node.name?.text ?? ''}: put it into infrastructure/auth ` +
          'behind a port that the module implements, or use a guard of infrastructure.',
      );
    });
  }
  const knowing = innerImports(sources)
    .filter(({ from, to }) => from.startsWith('src/infrastructure/auth/') && isModule(to))
    .map(
      ({ from, to }) =>
        `${from} imports ${to}: guards know ports only; declare an abstract class beside the guard and let the module provide it.`,
    );
  return [...stray, ...knowing];
}

function looksLikeGuard(node: ts.ClassLikeDeclaration): boolean {
  const isOne = (name: string): boolean => name === 'CanActivate' || /^(?:AuthGuard|\w+Guard)$/.test(name);
  return (
    (node.name?.text ?? '').endsWith('Guard') ||
    heritage(node, ts.SyntaxKind.ImplementsKeyword).some(isOne) ||
    heritage(node, ts.SyntaxKind.ExtendsKeyword).some(isOne)
  );
}

/** The names behind `extends` or `implements`; of `extends AuthGuard('basic')` the function's. */
function heritage(
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

function innerImports(sources: Sources): (Import & { readonly to: string })[] {
  return importsOf(sources).filter((each): each is Import & { to: string } => each.to !== undefined);
}
