/** A metric in an expression. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

const KEYWORDS = new Set([
  'and',
  'bool',
  'by',
  'group_left',
  'group_right',
  'ignoring',
  'inf',
  'nan',
  'offset',
  'on',
  'or',
  'unless',
  'without',
]);

/** Parses the metrics and grouping labels of a PromQL expression. Supports the parts of the language in use here. */
export function readExpression(expression: string): { selectors: Selector[]; groupedBy: string[] } {
  const groupedBy: string[] = [];
  const selectors: Selector[] = [];
  const withoutGroups = expression.replaceAll(
    /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g,
    (_, list: string) => {
      groupedBy.push(...list.split(',').map((label) => label.trim()));
      return ' ';
    },
  );
  const withoutSelectors = withoutGroups.replaceAll(
    /([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g,
    (_, metric: string, text: string) => {
      selectors.push({ metric, matchers: matchersOf(text) });
      return ' ';
    },
  );
  const rest = withoutSelectors.replaceAll(/\[[^\]]*\]/g, ' ');
  for (const [, word = ''] of rest.matchAll(/(?<![\w:.$])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/g)) {
    if (!KEYWORDS.has(word)) selectors.push({ metric: word, matchers: [] });
  }
  return { selectors, groupedBy: groupedBy.filter((label) => label !== '') };
}

function matchersOf(text: string): Matcher[] {
  return [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', operator = '=', value = '']) => ({
      label,
      operator: operator as Matcher['operator'],
      value,
    }),
  );
}
