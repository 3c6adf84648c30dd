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

const NAMELESS_FOLDERS = new Set(['common', 'utils', 'helpers', 'shared', 'types', 'core']);
const NAMELESS_FILE = /^(?:.*[-.])?(?:utils?|helpers?|constants?)\.ts$/;

/** A name says what a thing is, not that it is useful. */
export function namelessPlaces(sources: Sources): string[] {
  return [
    ...foldersOf(sources)
      .filter((folder) => NAMELESS_FOLDERS.has(basename(folder)))
      .map(
        (folder) =>
          `${folder} has a name that says nothing: put each thing beside its only user, or into a folder of ` +
          'infrastructure that is named for it.',
      ),
    ...[...sources.keys()]
      .filter((path) => NAMELESS_FILE.test(basename(path)))
      .map((path) => `${path} has a name that says nothing: name it for the thing that it holds.`),
  ];
}

export function synchronizedSchemas(sources: Sources): string[] {
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

/** A handler hands over to a service and names its concerns in few words. */
export function heavyHandlers(sources: Sources): string[] {
  const heavy: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isMethodDeclaration(node)) return;
      const names = decoratorsOf(node).map(({ name }) => name);
      if (!names.some((name) => ROUTES.has(name))) return;
      const handler = `${at(path, tree, node)} (${node.name.getText()})`;
      if (node.body?.statements.length !== 1) {
        heavy.push(`${handler} is more than one statement: move the work into the module's service.`);
      }
      const others = names.filter((name) => !ROUTES.has(name));
      if (others.length > MAX_DECORATORS) {
        heavy.push(
          `${handler} has ${others.length} decorators besides its route (${others.join(', ')}): ` +
            'join them in one of infrastructure/surfaces.',
        );
      }
    });
  }
  return heavy;
}

export function incompleteModules(sources: Sources): string[] {
  const names = new Set([...sources.keys()].filter(isModule).map((path) => path.split('/')[2] ?? ''));
  return [...names].flatMap((name) =>
    [
      ['index.ts', 'add it: the only public door of the module'],
      [`${name}.module.ts`, 'add it: the wiring of the module, named for its folder'],
    ]
      .map(([file, remedy]) => [`src/modules/${name}/${file}`, remedy])
      .filter(([path = '']) => !sources.has(path))
      .map(([path, remedy]) => `${path} is missing: ${remedy}.`),
  );
}

/** The migrations name tables and constraints, and entities that do not would drift from them. */
export function namelessEntities(sources: Sources): string[] {
  const nameless: string[] = [];
  for (const [path, tree] of treesOf(sources)) {
    everyNode(tree, (node) => {
      if (!ts.isClassLike(node)) return;
      const entity = decoratorsOf(node).find(({ name }) => name === 'Entity');
      if (!entity) return;
      const className = node.name?.text ?? '';
      const [first] = entity.arguments;
      const isNamed = first !== undefined && (ts.isStringLiteralLike(first) || hasProperty(first, 'name'));
      if (!isNamed) {
        nameless.push(
          `${at(path, tree, node)} (${className}) does not name its table: @Entity({ name: 'its_table' }).`,
        );
      }
      for (const member of node.members) {
        const primary = decoratorsOf(member).find(({ name }) => /^Primary(?:Generated)?Column$/.test(name));
        if (!primary) continue;
        if (primary.arguments.some((argument) => hasProperty(argument, 'primaryKeyConstraintName'))) continue;
        nameless.push(
          `${at(path, tree, member)} (${className}.${member.name?.getText() ?? ''}) does not name its primary ` +
            "key: primaryKeyConstraintName: 'its_table_pkey', as in the migration.",
        );
      }
    });
  }
  return nameless;
}

function hasProperty(node: ts.Expression, name: string): boolean {
  return (
    ts.isObjectLiteralExpression(node) &&
    node.properties.some((property) => property.name?.getText() === name)
  );
}

/**
 * What a door hands out is explained where it is declared. Not asked of the wiring (`@Module`), which is
 * named for its folder, nor of configuration, which says in its decorators what the docs print.
 */
export function undocumentedExports(sources: Sources): string[] {
  return [...sources.keys()]
    .filter((path) => /^src\/(?:modules|infrastructure)\/[^/]+\/index\.ts$/.test(path))
    .flatMap((door) => exportedFrom(door, '*', sources).map((found) => ({ door, ...found })))
    .filter(({ declaration, tree }) => needsComment(declaration) && !isCommented(declaration, tree))
    .map(
      ({ door, path, tree, declaration, name }) =>
        `${at(path, tree, declaration)} (${name}), which ${door} hands out, has no doc comment: say in a sentence ` +
        'what it is for.',
    );
}

interface Declared {
  readonly name: string;
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly declaration: ts.Node;
}

/** Declarations behind an exported name (`*` for all), followed through re-exports. */
function exportedFrom(path: string, wanted: string, sources: Sources): Declared[] {
  const text = sources.get(path);
  if (text === undefined) return [];
  const tree = treeOf(path, text);
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
