import ts from 'typescript';
import { committed, operationsOf } from '../support/documents/documents.js';
import {
  at,
  decoratorsOf,
  everyNode,
  isInfrastructure,
  isModule,
  treesOf,
  type Sources,
} from './source-tree.js';
import { tablesOfModules } from './table-rules.js';

/** Names of modules that infrastructure contains, with the reason. Remove an entry together with the text. */
const KNOWN: Readonly<Record<string, string>> = {
  'src/infrastructure/database/database.configuration.ts request_log':
    'the one table that is distributed, whose form a setting chooses before any module is loaded',
  'src/infrastructure/database/migrate.ts audit_chain':
    'the privileges of the service do not depend on the modules that the migrating program has loaded',
  'src/infrastructure/database/migrate.ts audit_log': 'as for audit_chain',
  'src/infrastructure/http/route-table.ts /.well-known/':
    'where programs look for metadata of any kind (RFC 8615)',
  'src/infrastructure/pages/layout.tsx /account/second-factor': 'the notice that every page shows',
  'src/infrastructure/pages/page-exception.filter.tsx /account/second-factor':
    'where the guard of every page sends users without a second factor',
  'src/infrastructure/pages/parts/list.tsx /dashboard/saved-filters': 'what the port SavedFilters stores',
  'src/infrastructure/pages/parts/list.tsx external-users':
    'the link of a user, which lists of all modules show',
  'src/infrastructure/pages/parts/list.tsx request-logs': 'the link of a session, as for users',
};

const DOCUMENT = JSON.parse(committed('openapi.json')) as { readonly paths: object };
/** Paths of one segment, such as `/events`, may be anything. */
const PATHS = Object.keys(DOCUMENT.paths).filter((path) => path.split('/').length > 2);

interface Names {
  /** Without a slash before them. */
  readonly paths: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;
  readonly tables: ReadonlySet<string>;
}

/** Returns what the modules declare: paths of controllers, labels of `menuEntries`, and operations of `dashboardPermissions`. */
function namesOf(sources: Sources): Names {
  const paths = new Set(PATHS.map((path) => path.slice(1)));
  const labels = new Set<string>();
  const operations = new Set(operationsOf(DOCUMENT).map(({ operationId }) => operationId));
  for (const [path, tree] of treesOf(sources)) {
    if (!isModule(path)) continue;
    everyNode(tree, (node) => {
      if (ts.isClassLike(node))
        for (const {
          name,
          arguments: [argument],
        } of decoratorsOf(node))
          if (name === 'Controller' && argument)
            everyNode(argument, (part) => void (ts.isStringLiteralLike(part) && paths.add(part.text)));
      if (!ts.isCallExpression(node)) return;
      const called = node.expression.getText();
      for (const argument of node.arguments.filter(ts.isObjectLiteralExpression))
        for (const property of argument.properties.filter(ts.isPropertyAssignment)) {
          const name = property.name.getText();
          if (called === 'dashboardPermissions') operations.add(name);
          if (called === 'menuEntries' && name === 'label' && ts.isStringLiteralLike(property.initializer))
            labels.add(property.initializer.text);
        }
    });
  }
  return { paths, labels, operations, tables: tablesOfModules(sources) };
}

/** Returns what a text names of a module, if anything. */
function foreignNameIn(text: string, names: Names): string | undefined {
  if (names.labels.has(text) || names.operations.has(text)) return text;
  const path = text.replace(/^\//, '').replace(/[?#].*/, '');
  const isPath = path !== '' && (text.startsWith('/') || /^[a-z]+[-/][\da-z/-]+$/.test(path));
  if (isPath && [...names.paths].some((known) => path === known || path.startsWith(`${known}/`))) return text;
  // A table of one word may be any word, unless it is part of a statement.
  const isSql = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE) [a-z]/.test(text);
  return text
    .match(/(?<![\w-])[a-z_]+(?![\w-])/g)
    ?.find((word) => names.tables.has(word) && (isSql || word.includes('_')));
}

function foreignNames(
  sources: Sources,
): { readonly path: string; readonly place: string; readonly name: string }[] {
  const names = namesOf(sources);
  return treesOf(sources).flatMap(([path, tree]) => {
    if (!isInfrastructure(path) || path.includes('/migrations/')) return [];
    const found: { path: string; place: string; name: string }[] = [];
    everyNode(tree, (node) => {
      if (ts.isSourceFile(node)) return;
      const isImport = ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent);
      const isText =
        ts.isStringLiteralLike(node) ||
        ts.isTemplateHead(node) ||
        ts.isTemplateMiddleOrTemplateTail(node) ||
        ts.isJsxText(node) ||
        (ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node);
      if (!isText || isImport) return;
      // The name of a member may be that of an operation by chance.
      const name = foreignNameIn(
        node.text.trim(),
        ts.isIdentifier(node) ? { ...names, operations: new Set() } : names,
      );
      if (name !== undefined) found.push({ path, place: at(path, tree, node), name });
    });
    return found;
  });
}

/** Finds paths, labels of the menu, operations and tables of modules that infrastructure names. */
export function findNamesOfModules(sources: Sources): string[] {
  return foreignNames(sources)
    .filter(({ path, name }) => !(`${path} ${name}` in KNOWN))
    .map(
      ({ place, name }) =>
        `${place} names ${name}, which belongs to a module: let the module declare it (*.capability.ts, a decorator or a port), ` +
        'and collect it here.',
    );
}

/** Returns the known names that infrastructure does not contain anymore. */
export function findOutdatedNames(sources: Sources): string[] {
  const found = new Set(foreignNames(sources).map(({ path, name }) => `${path} ${name}`));
  return Object.keys(KNOWN).filter((known) => !found.has(known));
}
