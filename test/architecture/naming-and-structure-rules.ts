import { basename } from 'node:path';
import ts from 'typescript';
import {
  at,
  decoratorsOf,
  everyNode,
  foldersOf,
  isModule,
  originalName,
  resolve,
  treeOf,
  treesOf,
  type Sources,
} from './source-tree.js';

const VAGUE_FOLDER_NAMES = new Set(['common', 'utils', 'helpers', 'shared', 'types', 'core']);
const VAGUE_FILE_NAME = /^(?:.*[-.])?(?:utils?|helpers?|constants?)\.ts$/;

/** Finds folders and files whose names do not describe their content. */
export function findVagueNames(sources: Sources): string[] {
  return [
    ...foldersOf(sources)
      .filter((folder) => VAGUE_FOLDER_NAMES.has(basename(folder)))
      .map(
        (folder) =>
          `${folder} has a vague name: move each file next to the code that uses it, or to a folder of ` +
          'infrastructure that is named after it.',
      ),
    ...[...sources.keys()]
      .filter((path) => VAGUE_FILE_NAME.test(basename(path)))
      .map((path) => `${path} has a vague name: name it after its content.`),
  ];
}

export function findSchemaSynchronization(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'synchronize') return;
      if (node.initializer.kind !== ts.SyntaxKind.FalseKeyword) {
        found.push(`${at(path, tree, node)} sets synchronize: write a migration and leave it false.`);
      }
    });
  }
  return found;
}

const ROUTES = new Set(['Get', 'Post', 'Put', 'Patch', 'Delete', 'Head', 'Options', 'All', 'Sse', 'Search']);
const MAX_DECORATORS = 3;
/** The decorators of pages, whose handlers read the form, call a service and choose the view. */
const PAGES = /^(?:PageRoute|Dashboard(?:Page|Action|File|Export))$/;
const PAGES_FILE = /\.pages\.tsx?$/;
/** The classes that pages are derived from. */
const BASE_PAGE = /^(?:List|Form|Confirm)Page\(/;

/** Finds pages of modules that are called otherwise, or are in another file. */
export function findMisnamedPages(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    if (!isModule(path)) continue;
    everyNode(tree, (node) => {
      if (!ts.isClassDeclaration(node)) return;
      const isPage =
        node.heritageClauses?.some(({ types }) => types.some((type) => BASE_PAGE.test(type.getText()))) ||
        node.members.some(
          (member) =>
            ts.isMethodDeclaration(member) && decoratorsOf(member).some(({ name }) => PAGES.test(name)),
        );
      const name = node.name?.text ?? '';
      if (!isPage || (name.endsWith('Page') && PAGES_FILE.test(path))) return;
      found.push(
        `${at(path, tree, node)} (${name}) is a page: call it XPage, in a file whose name ends with .pages.tsx, or .pages.ts.`,
      );
    });
  }
  return found;
}

/** Finds handlers of an API that do more than call a service, and handlers with too many decorators. */
export function findHeavyHandlers(sources: Sources): string[] {
  const heavy: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isMethodDeclaration(node)) return;
      const names = decoratorsOf(node).map(({ name }) => name);
      if (!names.some((name) => ROUTES.has(name))) return;
      const handler = `${at(path, tree, node)} (${node.name.getText()})`;
      const isOfPage = PAGES_FILE.test(path) || names.some((name) => PAGES.test(name));
      if (node.body?.statements.length !== 1 && !isOfPage) {
        heavy.push(`${handler} has more than one statement: move the work to the module's service.`);
      }
      if (names.length > MAX_DECORATORS) {
        heavy.push(
          `${handler} has ${names.length} decorators (${names.join(', ')}): ` +
            'combine them in one of infrastructure/surfaces.',
        );
      }
    });
  }
  return heavy;
}

const DOCUMENTATION = new Set(['operationId', 'summary', 'description', 'responseDescription']);

/** Finds documentation of operations in controllers. Pages are no operations; their forms may have a description. */
export function findDocumentedControllers(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    if (!path.endsWith('.controller.ts')) continue;
    everyNode(tree, (node) => {
      if (!ts.isPropertyAssignment(node) || !DOCUMENTATION.has(node.name.getText())) return;
      found.push(
        `${at(path, tree, node)} documents an operation: move ${node.name.getText()} to the .dto.ts file next to it.`,
      );
    });
  }
  return found;
}

export function findIncompleteModules(sources: Sources): string[] {
  const names = new Set([...sources.keys()].filter(isModule).map((path) => path.split('/')[2] ?? ''));
  return [...names].flatMap((name) =>
    [
      ['index.ts', 'add the public interface of the module'],
      [`${name}.module.ts`, 'add the Nest module, named after its folder'],
    ]
      .map(([file, remedy]) => [`src/modules/${name}/${file}`, remedy])
      .filter(([path = '']) => !sources.has(path))
      .map(([path, remedy]) => `${path} is missing: ${remedy}.`),
  );
}

/** Finds entities without explicit names, which would drift from the names in the schema. */
export function findUnnamedEntities(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isClassLike(node)) return;
      const entity = decoratorsOf(node).find(({ name }) => name === 'Entity');
      if (!entity) return;
      const className = node.name?.text ?? '';
      const [first] = entity.arguments;
      const isNamed = first !== undefined && (ts.isStringLiteralLike(first) || hasProperty(first, 'name'));
      if (!isNamed) {
        found.push(
          `${at(path, tree, node)} (${className}) does not name its table: @Entity({ name: 'its_table' }).`,
        );
      }
    });
  }
  return found;
}

function hasProperty(node: ts.Expression, name: string): boolean {
  return (
    ts.isObjectLiteralExpression(node) &&
    node.properties.some((property) => property.name?.getText() === name)
  );
}

/**
 * Finds exports of an index.ts that have no doc comment. Modules (`@Module`), which are named after their folder, and
 * configuration classes, whose decorators describe them, need none.
 */
export function findUndocumentedExports(sources: Sources): string[] {
  return [...sources.keys()]
    .filter((path) => /^src\/(?:modules|infrastructure)\/[^/]+\/index\.ts$/.test(path))
    .flatMap((index) => exportedFrom(index, '*', sources).map((found) => ({ index, ...found })))
    .filter(({ declaration, tree }) => needsComment(declaration) && !isCommented(declaration, tree))
    .map(
      ({ index, path, tree, declaration, name }) =>
        `${at(path, tree, declaration)} (${name}), which ${index} exports, has no doc comment: describe its purpose ` +
        'in a sentence.',
    );
}

interface Declared {
  readonly name: string;
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly declaration: ts.Node;
}

/** Returns the declarations of an exported name (`*` for all), following re-exports. */
function exportedFrom(path: string, wanted: string, sources: Sources): Declared[] {
  const tree = treeOf(path, sources);
  if (!tree) return [];
  return tree.statements.flatMap((statement): Declared[] => {
    if (ts.isExportDeclaration(statement)) return reexported(path, statement, wanted, sources);
    if (!ts.canHaveModifiers(statement)) return [];
    const isExported = ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    return namesDeclaredBy(statement)
      .filter((name) => wanted === '*' || name === wanted)
      .map((name) => ({ name, path, tree, declaration: statement }));
  });
}

function reexported(path: string, node: ts.ExportDeclaration, wanted: string, sources: Sources): Declared[] {
  if (node.isTypeOnly || !node.moduleSpecifier || !ts.isStringLiteralLike(node.moduleSpecifier)) return [];
  const target = resolve(path, node.moduleSpecifier.text, sources) ?? '';
  if (!node.exportClause) return exportedFrom(target, wanted, sources);
  if (!ts.isNamedExports(node.exportClause)) return [];
  return node.exportClause.elements
    .filter((element) => !element.isTypeOnly && (wanted === '*' || element.name.text === wanted))
    .flatMap((element) => exportedFrom(target, originalName(element), sources));
}

function namesDeclaredBy(statement: ts.Statement): string[] {
  if (ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement)) {
    return [statement.name?.text ?? 'default'];
  }
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.map(({ name }) => name.getText());
}

function needsComment(declaration: ts.Node): boolean {
  if (ts.isFunctionDeclaration(declaration)) return true;
  if (!ts.isClassDeclaration(declaration)) return false;
  return !decoratorsOf(declaration).some(({ name }) => name === 'Module' || name === 'Configuration');
}

function isCommented(declaration: ts.Node, tree: ts.SourceFile): boolean {
  const ranges = ts.getLeadingCommentRanges(tree.text, declaration.getFullStart()) ?? [];
  return ranges.some(({ pos }) => tree.text.startsWith('/**', pos));
}

interface Home {
  /** The end of the names of the files that the kind belongs to. */
  readonly file: string;
  readonly what: string;
  readonly isDeclared: (node: ts.Node) => boolean;
}

const hasDecorator =
  (...names: string[]) =>
  (node: ts.Node): boolean =>
    ts.canHaveDecorators(node) && decoratorsOf(node).some(({ name }) => names.includes(name));

const HOMES: readonly Home[] = [
  { file: '.configuration.ts', what: 'a configuration', isDeclared: hasDecorator('Configuration') },
  { file: '.module.ts', what: 'a Nest module', isDeclared: hasDecorator('Module') },
  { file: '.entity.ts', what: 'an entity', isDeclared: hasDecorator('Entity') },
  {
    file: '.job.ts',
    what: 'scheduled work',
    isDeclared: hasDecorator('Cron', 'Interval', 'Timeout'),
  },
  {
    file: '-errors.ts',
    what: 'an error kind',
    isDeclared: (node) => ts.isNewExpression(node) && node.expression.getText() === 'ErrorKind',
  },
];

/** Finds declarations of a kind that has a home, outside of it. */
export function findMisplacedDeclarations(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      for (const { file, what, isDeclared } of HOMES)
        if (!path.endsWith(file) && isDeclared(node))
          found.push(
            `${at(path, tree, node)} declares ${what}: move it to a file whose name ends with ${file}.`,
          );
    });
  }
  return found;
}
