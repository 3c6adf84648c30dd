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

/**
 * Modules that import no other module. `docs/architecture-modules.md` shows what the others import: a new line there is reviewed
 * with the change.
 */
const INDEPENDENT = ['audit-logs', 'careers', 'request-logs'];
/** Modules that no other module imports. */
const UNUSED = ['careers', 'sandbox'];

/** Finds imports between modules that the rules for particular modules forbid. */
export function findForbiddenModuleImports(sources: Sources): string[] {
  return internalImports(sources)
    .filter(({ from, to }) => isModule(from) && isModule(to) && moduleOf(from) !== moduleOf(to))
    .flatMap(({ from, to }) => [
      ...(INDEPENDENT.includes(moduleOf(from))
        ? [
            `${from} imports ${to}, but ${moduleOf(from)} may import no other module: let the calling code pass what is needed, ` +
              'or declare a port (an abstract class) that the other module implements.',
          ]
        : []),
      ...(UNUSED.includes(moduleOf(to))
        ? [
            `${from} imports ${to}, but no module may import ${moduleOf(to)}: move what you need to a module that both may import, ` +
              'or to infrastructure.',
          ]
        : []),
    ]);
}

const moduleOf = (path: string): string => path.split('/')[2] ?? '';

/** Finds import cycles of files, of infrastructure folders, of modules, and of the folders in a module. Imports of types count too. */
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
    ...cyclesOf(between(partOf))
      .filter((cycle) => !cycle.split(' -> ').every((part) => /\.tsx?$/.test(part)))
      .map(
        (cycle) =>
          `${cycle}: these parts of a module depend on each other; move what they share to a file beside the folders.`,
      ),
  ];
}

/** Returns the folder of a file in a module; for a file beside the folders, the file. */
function partOf(path: string): string | undefined {
  return /^src\/modules\/[^/]+\/[^/]+/.exec(path)?.[0];
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

/** Finds objects that assign themselves to a property of another one, which then depends on them without an import. */
export function findBackReferences(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return;
      const isProperty = ts.isPropertyAccessExpression(node.left) || ts.isElementAccessExpression(node.left);
      if (!isProperty || node.right.kind !== ts.SyntaxKind.ThisKeyword) return;
      found.push(
        `${at(path, tree, node)} assigns itself to ${node.left.getText()}: pass it to a constructor or a method that says what for.`,
      );
    });
  }
  return found;
}
