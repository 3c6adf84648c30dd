import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Pages whose links are checked but whose blocks are not run. */
const LINKS_ONLY = ['CHANGELOG.md', 'bench/RESULTS.md', 'examples/receivers/README.md'];

/** Returns the text of a committed file. */
export const committed = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** An operation of `openapi.json`. */
interface CommittedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly responses: Record<string, { readonly $ref?: string }>;
}

/** Returns the operations of a document. */
export function operationsOf({ paths }: { paths: object }): CommittedOperation[] {
  return Object.values(paths).flatMap((path: object) => Object.values(path));
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line where the block begins, for error messages. */
  readonly line: number;
  readonly language: string;
  /** The label of a tab, such as `Python`. */
  readonly label: string | undefined;
  readonly code: string;
  /** An instruction for the test in the comment before the block: `<!-- not run: … -->`, `<!-- meanwhile: … -->`. */
  readonly instruction: { readonly name: string; readonly text: string } | undefined;
}

const inRoot = (path: string): string => join(ROOT, path);

const pagesIn = (folder: string): string[] =>
  readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));

/** Returns the pages whose blocks are run. */
export function pagesToRun(): string[] {
  return ['README.md', 'CONTRIBUTING.md', ...pagesIn('docs')].toSorted();
}

/** Returns all pages whose links are checked. */
export function allPages(): string[] {
  return [...pagesToRun(), ...LINKS_ONLY, ...pagesIn('src')];
}

/** Returns the fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const lines = readFileSync(inRoot(page), 'utf8').split('\n');
  const blocks: Block[] = [];
  let instruction: Block['instruction'];
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const [, name, argument] = /^<!-- ([a-z ]+): (.+) -->$/.exec(text) ?? [];
    const [, language, label] = /^```(\S*)(?: (.+))?/.exec(text) ?? [];
    if (language !== undefined) {
      const end = lines.indexOf('```', index + 1);
      if (end < 0) throw new Error(`${page}:${index + 1} begins a block that does not end`);
      const code = `${lines.slice(index + 1, end).join('\n')}\n`;
      blocks.push({ page, line: index + 1, language, label, code, instruction });
      index = end;
    }
    if (text !== '') instruction = name && argument ? { name, text: argument } : undefined;
  }
  return blocks;
}

/** Returns a message for each link of a page to a missing file or heading. */
export function brokenLinks(page: string): string[] {
  const prose = readFileSync(inRoot(page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !isValidLink(page, target))
    .map((target) => `${page} links to ${target}, which does not exist`);
}

function isValidLink(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(inRoot(file))) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

/** Returns the anchors of all headings, in the format of GitHub. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(inRoot(page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
