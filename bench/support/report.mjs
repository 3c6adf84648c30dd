import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const FILE = new URL('../RESULTS.md', import.meta.url).pathname;
const HEAD = `# Benchmark results

The scripts in this folder generate this file. Product and comparison alternate on the same machine: quote the ratios, not
the absolute figures.
`;

/** Reports product and comparison, as measured by the load generator. */
export function report(name, { title, goal, product, comparison }) {
  const row = (label, unit, key, digits = 0) => [
    label,
    `${product[key].toFixed(digits)} ${unit}`,
    `${comparison[key].toFixed(digits)} ${unit}`,
    (product[key] / comparison[key]).toFixed(2),
  ];
  reportTable(name, {
    title,
    goal,
    columns: ['median', 'product', 'comparison', 'ratio'],
    rows: [row('requests', '/s', 'rate'), row('p50', 'ms', 'p50'), row('p99', 'ms', 'p99')],
  });
}

/**
 * Prints the table and, unless `keep` is false, replaces the table of the same name in RESULTS.md, which has one for each major
 * version of Node.js.
 */
export function reportTable(name, { title, goal, columns, rows, keep = true }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const section = [
    `## ${title}`,
    '',
    `Goal: ${goal}. Machine: ${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}.`,
    '',
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map(line),
  ].join('\n');
  console.log(section);
  if (!keep) return;
  const [major] = process.versions.node.split('.');
  const marker = (edge) => `<!-- ${name}, Node.js ${major}, ${edge} -->`;
  const block = `${marker('begin')}\n\n${section}\n\n${marker('end')}`;
  const file = existsSync(FILE) ? readFileSync(FILE, 'utf8') : HEAD;
  const old = new RegExp(`${marker('begin')}[\\s\\S]*${marker('end')}`);
  writeFileSync(FILE, old.test(file) ? file.replace(old, block) : `${file}\n${block}\n`);
}
