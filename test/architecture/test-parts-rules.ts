import { importsOf, type Sources } from './source-tree.js';

const BROWSER = /^playwright-core$/;
const PROGRAMS = /^(?:node:child_process|src\/infrastructure\/embedded-postgres\/(?:index|server)\.ts)$/;

/** Returns the test files in the wrong folder. `npm test` runs all but those in `test/programs` and `test/browser`. */
export function findMisplacedTests(sources: Sources): string[] {
  const imports = importsOf(sources).filter(({ values }) => values.length > 0);
  const targets = new Map<string, string[]>();
  for (const { from, specifier, to = specifier } of imports)
    targets.set(from, [...(targets.get(from) ?? []), to]);

  /** Returns what a file imports, directly or by its support files. */
  const reachedFrom = (file: string, reached = new Set<string>()): string[] => {
    for (const target of targets.get(file) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      if (target.startsWith('test/')) reachedFrom(target, reached);
    }
    return [...reached];
  };

  return [...sources.keys()]
    .filter((file) => file.endsWith('.spec.ts'))
    .flatMap((file) => {
      const reached = reachedFrom(file);
      const opens = (what: RegExp): boolean => reached.some((target) => what.test(target));
      const isIn = (folder: string): boolean => file.startsWith(`test/${folder}/`);
      if (opens(BROWSER))
        return isIn('browser') ? [] : [`${file} starts a browser: move those tests to test/browser.`];
      if (opens(PROGRAMS))
        return isIn('programs') ? [] : [`${file} starts a program: move those tests to test/programs.`];
      return isIn('browser') || isIn('programs')
        ? [`${file} starts no program and no browser: move it to test/e2e, where \`npm test\` runs it.`]
        : [];
    });
}

/** Finds unit specs that are named after no file in their folder, so that a reader would look for the code elsewhere. */
export function findStraySpecs(sources: Sources): string[] {
  return [...sources.keys()].flatMap((path) => {
    const tested = /^(src\/.*)\.spec\.tsx?$/.exec(path)?.[1];
    if (tested === undefined || sources.has(`${tested}.ts`) || sources.has(`${tested}.tsx`)) return [];
    return [
      `${path} is named after no file beside it: move it beside the file that it tests, and give it the name of that file.`,
    ];
  });
}
