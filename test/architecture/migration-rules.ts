import ts from 'typescript';
import { at, everyNode, treesOf, type Sources } from './source-tree.js';

/** Statements that the rules would refuse, with the reason why nobody waits for them. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'DROP TABLE IF EXISTS ${name}': 'a copy that an interrupted change has left, which nobody reads',
};

interface Rule {
  readonly refused: RegExp;
  readonly remedy: string;
}

/** They apply to a statement, or to each of the actions of an ALTER TABLE, without what comes before them. */
const RULES: readonly Rule[] = [
  {
    refused:
      /^CREATE (?:UNLOGGED )?(?:TABLE|(?:UNIQUE )?INDEX(?: CONCURRENTLY)?|SEQUENCE|SCHEMA|EXTENSION) (?!IF NOT EXISTS)|^ADD COLUMN (?!IF NOT EXISTS)/,
    remedy: 'add IF NOT EXISTS, because an interrupted migration is repeated',
  },
  {
    refused: /^CREATE (?:FUNCTION|PROCEDURE|TRIGGER|VIEW|AGGREGATE)\b/,
    remedy: 'write CREATE OR REPLACE, because an interrupted migration is repeated',
  },
  { refused: /^ADD (?!COLUMN |CONSTRAINT )/, remedy: 'write ADD COLUMN or ADD CONSTRAINT, with a name' },
  {
    refused: /^ADD COLUMN .*\b(?:CHECK|REFERENCES|UNIQUE|PRIMARY KEY|GENERATED)\b/,
    remedy:
      'the table would be read under a lock: add the column, then the constraint as NOT VALID, then validate it',
  },
  {
    refused: /^ADD COLUMN (?!.*DEFAULT).*NOT NULL/,
    remedy: 'the last release inserts rows without the column: give it a default',
  },
  {
    refused: /^ADD COLUMN .*DEFAULT \(?\w+\(/,
    remedy: 'PostgreSQL may write all rows again: choose a constant as default',
  },
  {
    refused: /^ADD CONSTRAINT (?!.* NOT VALID$)/,
    remedy: 'the table would be read under a lock: add NOT VALID, then let runBesideOthers validate it',
  },
  {
    refused: /^ALTER COLUMN \w+ (?:(?:SET DATA )?TYPE|SET NOT NULL)\b|^SET (?:LOGGED|UNLOGGED|TABLESPACE)/,
    remedy: 'the table would be read or written under a lock: add another column',
  },
  { refused: /^(?:ALTER .*)?\bRENAME\b/, remedy: 'the last release uses the name: add another one' },
  {
    refused: /^DROP (?!CONSTRAINT IF EXISTS )|^ALTER COLUMN \w+ DROP DEFAULT/,
    remedy: 'the last release uses it: let a migration of the next release drop it',
  },
  {
    refused: /^VALIDATE /,
    remedy: 'the table would be read under the locks of the other actions: use runBesideOthers',
  },
  {
    refused:
      /^(?:INSERT|UPDATE|DELETE|TRUNCATE|LOCK|VACUUM|CLUSTER|REINDEX|ANALYZE|MERGE|WITH|DO|COPY|REFRESH|BEGIN)\b/,
    remedy: 'rows would be locked, or read under a lock: let a recurring job change them, some at a time',
  },
];

const STATEMENT =
  /^(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|TRUNCATE|LOCK|VACUUM|CLUSTER|REINDEX|ANALYZE|MERGE|WITH|DO|COPY|REFRESH|BEGIN|GRANT|REVOKE|COMMENT) /;
/** Statements that runBesideOthers may run. */
const BESIDE_OTHERS =
  /^(?:SELECT |ALTER TABLE \S+ VALIDATE CONSTRAINT \S+$|(?:CREATE|DROP) (?:UNIQUE )?INDEX CONCURRENTLY )/;

/** Finds statements of migrations for which others would wait, or that cannot be repeated. */
export function findBlockingMigrations(sources: Sources): string[] {
  return treesOf(sources).flatMap(([path, tree]) => {
    if (!/\/migrations\/\d+-[^/]+\.ts$/.test(path)) return [];
    const found: string[] = [];
    const created = [...tree.text.matchAll(/CREATE (?:UNLOGGED )?TABLE IF NOT EXISTS (\w+)/g)].map(
      ([, name]) => name,
    );
    if (!/transaction = false/.test(tree.text))
      found.push(`${path}: set transaction = false, so that no lock is kept for the next one.`);
    everyNode(tree, (node) => {
      const place = at(path, tree, node);
      if (ts.isCallExpression(node)) {
        const [, argument] = node.arguments;
        const name = node.expression.getText();
        if (
          name === 'runBesideOthers' &&
          argument &&
          !BESIDE_OTHERS.test(textOf(argument)) &&
          !isException(textOf(argument))
        )
          found.push(
            `${place} does not say what runs beside others: name VALIDATE CONSTRAINT or CONCURRENTLY, or use changeSchema.`,
          );
        if (name.endsWith('.query') && !textOf(node.arguments[0]).startsWith('SELECT '))
          found.push(`${place} runs a statement itself: use changeSchema, which waits for no lock for long.`);
        return;
      }
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return;
      const text = textOf(node);
      const isBesideOthers =
        ts.isCallExpression(node.parent) && node.parent.expression.getText() === 'runBesideOthers';
      if (isBesideOthers || !STATEMENT.test(text)) return;
      if (isException(text)) return;
      if (/;\s*\S/.test(text.replaceAll(/\$\$.*?\$\$|'[^']*'/g, '')))
        found.push(
          `${place} contains several statements, which keep their locks for each other: run each alone.`,
        );
      const [, table] = /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON (?:ONLY )?(\S+)/.exec(text) ?? [];
      if (table !== undefined && !created.includes(table))
        found.push(`${place} builds an index under a lock: use createIndexConcurrently.`);
      const adds = [...text.matchAll(/ADD CONSTRAINT (\w+)/g)].map(([, name]) => name);
      if (adds.some((name) => !text.includes(`DROP CONSTRAINT IF EXISTS ${name},`)))
        found.push(
          `${place} cannot be repeated: write DROP CONSTRAINT IF EXISTS before ADD CONSTRAINT, in the same statement.`,
        );
      for (const action of actionsOf(text))
        for (const { refused, remedy } of RULES)
          if (refused.test(action)) found.push(`${place} contains ${action.slice(0, 60)}: ${remedy}.`);
    });
    return found;
  });
}

const isException = (text: string): boolean =>
  Object.keys(EXCEPTIONS).some((known) => text.startsWith(known));

/** Returns the exceptions that no migration needs any more. */
export function findOutdatedExceptions(sources: Sources): string[] {
  const texts = treesOf(sources).flatMap(([path, tree]) =>
    path.includes('/migrations/') ? [shortened(tree.text)] : [],
  );
  return Object.keys(EXCEPTIONS).filter((known) => !texts.some((text) => text.includes(known)));
}

const shortened = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Returns the text of a string without its quotes, and other expressions as they are. */
function textOf(node: ts.Node | undefined): string {
  if (!node) return '';
  const text = node.getText();
  return shortened(ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ? text.slice(1, -1) : text);
}

/** Returns the actions of an ALTER TABLE, otherwise the statement. */
function actionsOf(statement: string): string[] {
  const [, actions] = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?\S+ (.*)$/.exec(statement) ?? [];
  return actions?.split(/, (?=(?:ADD|DROP|ALTER|SET|RENAME|VALIDATE) )/) ?? [statement];
}
