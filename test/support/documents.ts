import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Reports of measurements, and what was changed: told of, not run; their links count all the same. */
const LINKS_ALONE = ['CHANGELOG.md', 'bench/RESULTS.md', 'examples/receivers/README.md'];

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** Where it begins, for whoever has to mend it. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** What a comment right before it tells the test: `<!-- not run: … -->`, `<!-- meanwhile: … -->`. */
  readonly remark: { readonly word: string; readonly text: string } | undefined;
}

const inRoot = (path: string): string => join(ROOT, path);

const pagesBelow = (folder: string): string[] =>
  readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));

/** The pages whose blocks are run. */
export function pagesToRun(): string[] {
  return ['README.md', 'CONTRIBUTING.md', ...pagesBelow('docs')].toSorted();
}

/** All pages, for their links. */
export function allPages(): string[] {
  return [...pagesToRun(), ...LINKS_ALONE, ...pagesBelow('src')];
}

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const lines = readFileSync(inRoot(page), 'utf8').split('\n');
  const blocks: Block[] = [];
  let remark: Block['remark'];
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const [, word, said] = /^<!-- ([a-z ]+): (.+) -->$/.exec(text) ?? [];
    const [, language] = /^```(\S*)/.exec(text) ?? [];
    if (language !== undefined) {
      const end = lines.indexOf('```', index + 1);
      if (end < 0) throw new Error(`${page}:${index + 1} begins a block that does not end`);
      const code = `${lines.slice(index + 1, end).join('\n')}\n`;
      blocks.push({ page, line: index + 1, language, code, remark });
      index = end;
    }
    if (text !== '') remark = word && said ? { word, text: said } : undefined;
  }
  return blocks;
}

/** Links of a page that lead nowhere: to a file that is not there, or a heading that the file does not have. */
export function brokenLinks(page: string): string[] {
  const prose = readFileSync(inRoot(page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !leadsSomewhere(page, target))
    .map((target) => `${page} links to ${target}, which is not there`);
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(inRoot(file))) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

/** As the common hosts of repositories make them. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(inRoot(page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
