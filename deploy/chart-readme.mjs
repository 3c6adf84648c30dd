/*
 * Writes the table of all values in deploy/chart/README.md from the comments of values.yaml and the names in
 * values.schema.json. `deploy/test-chart --write` updates the page; `test/programs/deployment.spec.ts` compares it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, parseDocument } from 'yaml';

const CHART = join(import.meta.dirname, 'chart');
const read = (file) => readFileSync(join(CHART, file), 'utf8');
/** What these objects contain is up to the operator: their default is one row. */
const WHOLE = /(?:resources|nodeSelector|strategy|Probe|SecurityContext|securityContext)$/;
const COMPONENTS = ['api', 'worker', 'migration'];

/** Returns the page with current tables. */
export function readme() {
  const text = read('README.md');
  const rows = rowsOf(parseDocument(read('values.yaml')).contents);
  const values = table(
    ['value', 'default', 'description'],
    rows.map(({ path, value, comment }) => [`\`${path}\``, `\`${JSON.stringify(value)}\``, comment]),
  );
  const overrides = table(
    ['value', ...COMPONENTS],
    [...new Set(COMPONENTS.flatMap(overridesOf))].map((name) => [
      `\`${name}\``,
      ...COMPONENTS.map((component) => (overridesOf(component).includes(name) ? 'yes' : '')),
    ]),
  );
  return filled(filled(text, 'values', values), 'overrides', overrides);
}

/** Returns the paths of all values that have a row. */
export function documentedValues() {
  const paths = rowsOf(parseDocument(read('values.yaml')).contents).map(({ path }) => path);
  return [
    ...paths,
    ...COMPONENTS.flatMap((component) => overridesOf(component).map((name) => `${component}.${name}`)),
  ];
}

/** Returns the paths of all values that the schema accepts. */
export function acceptedValues() {
  const { properties: all, definitions } = JSON.parse(read('values.schema.json'));
  const pathsOf = (properties, prefix) =>
    Object.entries(properties).flatMap(([name, schema]) => {
      const { properties: nested } = definitions[schema.$ref?.split('/').at(-1)] ?? schema;
      return nested && !WHOLE.test(name) ? pathsOf(nested, `${prefix}${name}.`) : [`${prefix}${name}`];
    });
  return pathsOf(all, '');
}

/** Returns the values of all pods that a component can have of its own. */
function overridesOf(component) {
  const { properties } = JSON.parse(read('values.schema.json'));
  const own = parseDocument(read('values.yaml')).toJS()[component];
  return Object.keys(properties[component].properties).filter((name) => !(name in own));
}

function rowsOf(map, prefix = '') {
  return map.items.flatMap(({ key, value }, index) => {
    // The comment before the first key of a map belongs to the map, for the parser. Only its last paragraph is about the key.
    const before = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? '';
    const paragraph = before.split(/\n\s*\n/).at(-1);
    const comment = paragraph
      .split('\n')
      .map((line) => line.trim())
      .join(' ')
      .trim();
    const path = `${prefix}${key.value}`;
    return isMap(value) && value.items.length > 0 && !WHOLE.test(path)
      ? rowsOf(value, `${path}.`)
      : [{ path, value: value.toJSON(), comment }];
  });
}

function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => [...row[column]].length)));
  const line = (row) =>
    `| ${row.map((cell, column) => cell + ' '.repeat(widths[column] - [...cell].length)).join(' | ')} |`;
  const [first, ...rest] = cells;
  return [line(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest.map(line)].join(
    '\n',
  );
}

function filled(text, name, content) {
  const pattern = new RegExp(`(<!-- begin ${name} -->\n)[^]*?(<!-- end ${name} -->)`);
  if (!pattern.test(text)) throw new Error(`README.md has no place for the ${name}`);
  return text.replace(pattern, (_, begin, end) => `${begin}\n${content}\n\n${end}`);
}
