import ts from 'typescript';
import { at, everyNode, importsOf, treesOf, type Sources } from './source-tree.js';

const FOLDER = 'src/infrastructure/framework-patches/';
const REMEDY =
  'use what the framework documents. If a test shows that this is not enough, add a patch to infrastructure/framework-patches, with ' +
  'the version, its decision and that test.';

/** The packages whose documentation says how to use them. */
const FRAMEWORKS =
  /^(?:@nestjs(?:-cls)?\/[\w-]+|nestjs-cls|typeorm|express|passport[\w-]*|pg|class-validator|class-transformer)(?:\/|$)/;
const STORAGES = new Set([
  'getMetadataArgsStorage',
  'getMetadataStorage',
  'MetadataStorage',
  'defaultMetadataStorage',
]);
/** Objects that belong to a framework, by the names that variables and members have. */
const OBJECTS =
  /(?:^|\.)(?:this|app|application|authenticator|client|connection|dataSource|discovery|driver|httpAdapter|manager|pool|queryRunner|reflector|req|request|res|response|router|server|socket)$/;
/** Members of JSON that others define. */
const MEMBERS_OF_JSON = new Set(['_meta', '_claim_names']);
const BASES = /\b(?:IncomingMessage|ServerResponse)\b/;

/** Finds what reaches into a framework: its files, storages, prototypes, private members, keys of its metadata, and its symbols. */
export function findReachedInternals(sources: Sources): string[] {
  const imported = importsOf(sources)
    .filter(({ from, specifier }) => !from.startsWith(FOLDER) && FRAMEWORKS.test(specifier))
    .flatMap(({ from, specifier, values }) => [
      ...(specifier.replace(FRAMEWORKS, '') === '' ? [] : [`${from} imports ${specifier}: ${REMEDY}`]),
      ...values.filter((name) => STORAGES.has(name)).map((name) => `${from} imports ${name}: ${REMEDY}`),
    ]);
  const reached = treesOf(sources).flatMap(([path, tree]) => {
    const found: string[] = [];
    if (path.startsWith(FOLDER)) return found;
    everyNode(tree, (node) => {
      const what = internalIn(node);
      if (what !== undefined) found.push(`${at(path, tree, node)} ${what}: ${REMEDY}`);
    });
    return found;
  });
  return [...imported, ...reached];
}

function internalIn(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return privateMember(node, node.name.text) ?? ofPrototype(node);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return privateMember(node, node.argumentExpression.text);
  if (ts.isAsExpression(node)) return castObject(node);
  if (ts.isCallExpression(node)) return reflection(node);
  if (ts.isClassLike(node)) return overriddenClass(node);
  return undefined;
}

function privateMember(
  { expression }: ts.PropertyAccessExpression | ts.ElementAccessExpression,
  name: string,
) {
  const isOwn =
    expression.kind === ts.SyntaxKind.ThisKeyword || expression.kind === ts.SyntaxKind.SuperKeyword;
  return /^_[a-z]/i.test(name) && !isOwn && !MEMBERS_OF_JSON.has(name)
    ? `uses the private member ${name}`
    : undefined;
}

/** A method of a prototype, or a new one. */
function ofPrototype(node: ts.PropertyAccessExpression): string | undefined {
  const { expression } = node;
  const isOfPrototype = ts.isPropertyAccessExpression(expression) && expression.name.text === 'prototype';
  return isOfPrototype ? `uses ${node.getText()}` : undefined;
}

/** A cast that gives an object of a framework members that its type does not have. */
function castObject(node: ts.AsExpression): string | undefined {
  if (ts.isAsExpression(node.parent)) return undefined;
  let { expression }: { expression: ts.Expression } = node;
  let isForced = ts.isTypeLiteralNode(node.type);
  while (ts.isAsExpression(expression) || ts.isParenthesizedExpression(expression)) {
    isForced ||= ts.isAsExpression(expression) && expression.type.kind === ts.SyntaxKind.UnknownKeyword;
    ({ expression } = expression);
  }
  return isForced && OBJECTS.test(expression.getText()) ? `casts ${expression.getText()}` : undefined;
}

/** Prototypes that are changed, symbols of others, and metadata whose key is a text of a framework. `design:` is TypeScript's. */
function reflection({ expression, arguments: [first] }: ts.CallExpression): string | undefined {
  const called = expression.getText();
  if (/^(?:Object|Reflect)\.setPrototypeOf$|^Object\.getOwnPropertySymbols$|^Symbol\.for$/.test(called))
    return `calls ${called}`;
  const isMetadata = /^Reflect\.get(?:Own)?Metadata$|\breflector\.get\w*$/.test(called);
  const isForeign = first && ts.isStringLiteralLike(first) && !first.text.startsWith('design:');
  return isMetadata && isForeign ? `reads the metadata '${first.text}'` : undefined;
}

function overriddenClass({ heritageClauses, members }: ts.ClassLikeDeclaration): string | undefined {
  const base = (heritageClauses ?? [])
    .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    .map((clause) => clause.types[0]?.expression.getText() ?? '')
    .join('');
  if (BASES.test(base)) return `extends ${base}`;
  const overrides = members.some((member) => member.name?.getText() === 'authenticate');
  return base.startsWith('PassportStrategy(') && overrides
    ? 'overrides authenticate() of a strategy'
    : undefined;
}

const MOST = 8;

/** @param decisions the names of the files in docs/decisions @param specs the tests of the patches by their paths */
export function findUnexplainedPatches(
  sources: Sources,
  specs: Sources,
  decisions: readonly string[],
): string[] {
  const patches = [...sources].filter(([path]) => path.startsWith(FOLDER) && !path.endsWith('/index.ts'));
  const problems = patches.flatMap(([path, text]) => {
    const spec = specs.get(path.replace(/\.ts$/, '.spec.ts')) ?? '';
    const named = [...text.matchAll(/^ \* Written for .* \d.*Evidence: docs\/decisions\/([\w.-]+\.md)\.$/gm)];
    return [
      ...(named.length > 0 && named.every(([, decision = '']) => decisions.includes(decision))
        ? []
        : [
            `${path}: say "Written for <package> <version>. Evidence: docs/decisions/<page>." in its doc comment.`,
          ]),
      ...(spec.includes('is needed as long as')
        ? []
        : [`${path}: add a test "is needed as long as …", which fails once the documented way is enough.`]),
    ];
  });
  const others = importsOf(sources)
    .filter(({ from, to }) => from.startsWith(FOLDER) && to !== undefined && !to.startsWith(FOLDER))
    .map(({ from, to }) => `${from} imports ${to}: a patch knows the framework only.`);
  const many = patches.length > MOST ? [`${patches.length} patches, more than ${MOST}: remove one.`] : [];
  return [...problems, ...others, ...many];
}
