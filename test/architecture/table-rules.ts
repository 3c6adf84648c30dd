import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { moduleDependencies } from '../../scripts/module-documents.mjs';
import {
  at,
  decoratorsOf,
  everyNode,
  isInfrastructure,
  topFolderOf,
  treesOf,
  type Sources,
} from './source-tree.js';

/**
 * Statements that use a table of another module although that module is not among their dependencies. Remove an entry
 * together with the statement.
 */
const KNOWN_CROSSINGS: Readonly<Record<string, string>> = {
  'dashboard-users reads organization':
    'organizations depends on dashboard-users, and the lookup of a user on every request needs both in one statement',
  'merchant-statuses reads api_client':
    'pages of clients whose organizations do not hide a merchant, which only one statement can limit',
  'request-logs reads api_client':
    'the list of clients lets PostgreSQL read the entries of a period by the primary key',
};

interface Use {
  readonly table: string;
  /** The module or the folder of the infrastructure that contains the statement. */
  readonly folder: string;
  readonly place: string;
  readonly isWrite: boolean;
}

const WRITE =
  /\b(?:INSERT\s+INTO|(?<!\bFOR\s|\bDO\s|\bKEY\s)UPDATE(?:\s+ONLY)?|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO)\s+([a-z_]+)\b/g;
const READ = /(?<!\bDELETE\s)\b(?:FROM|JOIN)\s+(?:ONLY\s+)?([a-z_]+)\b/g;
/** Names that a statement gives to its own parts, which hide tables of the same name. */
const OWN_NAME = /\b([a-z_]+)\s+AS\s+(?:(?:NOT\s+)?MATERIALIZED\s+)?\(/g;

/** Returns the names of all tables. */
function tablesOf(schema: string): Set<string> {
  return new Set([...schema.matchAll(/^CREATE TABLE ([a-z_]+) /gm)].map(([, name = '']) => name));
}

const TABLES = tablesOf(readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'schema.sql'), 'utf8'));

/** Finds the statements of the sources that use a table, and the entities, which belong to the module that writes. */
function usesOf(sources: Sources): Use[] {
  return treesOf(sources).flatMap(([path, tree]) => {
    const folder = topFolderOf(path);
    if (folder === undefined || path.includes('/migrations/')) return [];
    const uses: Use[] = [];
    const add = (node: ts.Node, table: string | undefined, isWrite: boolean): void => {
      if (table !== undefined && TABLES.has(table))
        uses.push({ table, folder, place: at(path, tree, node), isWrite });
    };
    everyNode(tree, (node) => {
      if (ts.isClassLike(node)) {
        const entity = decoratorsOf(node).find(({ name }) => name === 'Entity')?.arguments[0];
        if (entity) add(node, /name: '([a-z_]+)'/.exec(entity.getText())?.[1], true);
      }
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
      if (!isText) return;
      const text = node.getText();
      const ownNames = new Set([...text.matchAll(OWN_NAME)].map(([, name]) => name));
      for (const [, table] of text.matchAll(WRITE)) add(node, table, true);
      for (const [, table] of text.matchAll(READ)) if (!ownNames.has(table)) add(node, table, false);
    });
    return uses;
  });
}

/** Returns the folders that write each table. The first one is the owner. */
function ownersOf(uses: readonly Use[]): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>();
  for (const { table, folder, isWrite } of uses) {
    if (isWrite) owners.set(table, (owners.get(table) ?? new Set()).add(folder));
  }
  return owners;
}

const nameOf = (folder: string): string => folder.split('/').at(-1) ?? '';

/** Finds tables that several modules write, and reads of tables of modules that the reading module does not depend on. */
export function findForeignTables(sources: Sources): string[] {
  const uses = usesOf(sources);
  const owners = ownersOf(uses);
  const dependencies = moduleDependencies(sources);
  return uses.flatMap(({ table, folder, place, isWrite }) => {
    const writers = owners.get(table) ?? new Set();
    if (isWrite && writers.size > 1) {
      return [
        `${place} writes ${table}, and so do ${[...writers].filter((each) => each !== folder).join(' and ')}: let one ` +
          'module write the table, and call a method of that module, or move the statement there.',
      ];
    }
    const [owner] = writers;
    if (isWrite || owner === undefined || owner === folder || mayRead(folder, owner, dependencies)) return [];
    if (`${nameOf(folder)} reads ${table}` in KNOWN_CROSSINGS) return [];
    return [
      `${place} reads ${table}, which ${owner} owns: call a method of ${nameOf(owner)}, let it pass what is needed, or, if ` +
        'the statement needs the table, let the module import the other one.',
    ];
  });
}

/** Returns the tables that modules write. */
export function tablesOfModules(sources: Sources): Set<string> {
  const owners = [...ownersOf(usesOf(sources))];
  return new Set(
    owners
      .filter(([, folders]) => ![...folders].some((folder) => isInfrastructure(`${folder}/`)))
      .map(([table]) => table),
  );
}

/** Returns the known crossings that no statement contains anymore. */
export function findOutdatedCrossings(sources: Sources): string[] {
  const used = new Set(usesOf(sources).map(({ folder, table }) => `${nameOf(folder)} reads ${table}`));
  return Object.keys(KNOWN_CROSSINGS).filter((crossing) => !used.has(crossing));
}

/** Whether a module may read the tables of another one: if it also calls it. */
function mayRead(
  folder: string,
  owner: string,
  dependencies: ReturnType<typeof moduleDependencies>,
): boolean {
  if (isInfrastructure(`${folder}/`)) return false;
  return isInfrastructure(`${owner}/`) || (dependencies[nameOf(folder)]?.includes(nameOf(owner)) ?? false);
}
