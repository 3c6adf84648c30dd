import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** An element with its namespace resolved. */
export interface XmlElement {
  readonly namespace: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, without its children. */
  readonly text: string;
}

type Prefixes = ReadonlyMap<string, string>;
/** The parser's representation: `{ name: children, ':@': attributes }`. */
type Node = Readonly<Record<string, unknown>>;

const ATTRIBUTES = ':@';
const TEXT = '#text';
/** Metadata is about ten levels deep. */
const MAX_DEPTH = 32;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

/**
 * Parses a document. Document types are rejected, and with them all entities except XML's own five, because they can
 * make parsers fetch URLs and exhaust memory.
 *
 * @returns the root; undefined when the text is not well-formed XML or has a document type
 */
export function parseXml(text: string): XmlElement | undefined {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text) || isTooDeep(text)) return undefined;
  try {
    if (XMLValidator.validate(text) !== true) return undefined;
    const roots = (parser.parse(text) as Node[]).flatMap((node) => elementOf(node, new Map()) ?? []);
    return roots.length === 1 ? roots[0] : undefined;
  } catch {
    // Names with a meaning in JavaScript, or undeclared prefixes.
    return undefined;
  }
}

/** Checked before any recursion. Tags in comments are counted too, which only makes the check stricter. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [tag] of text.matchAll(/<[^!?<>][^<>]*>/g)) {
    if (tag.startsWith('</')) depth -= 1;
    else if (!tag.endsWith('/>')) depth += 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function elementOf(node: Node, outer: Prefixes): XmlElement | undefined {
  const qualified = Object.keys(node).find((key) => key !== ATTRIBUTES && key !== TEXT);
  if (qualified === undefined) return undefined;
  const attributes = (node[ATTRIBUTES] ?? {}) as Record<string, string>;
  const prefixes = withDeclared(outer, attributes);
  const content = node[qualified] as Node[];
  const [prefix, name] = split(qualified);
  return {
    namespace: namespaceOf(prefix, prefixes),
    name,
    attributes,
    children: content.flatMap((child) => elementOf(child, prefixes) ?? []),
    text: content.map((child) => String(child[TEXT] ?? '')).join(''),
  };
}

function withDeclared(outer: Prefixes, attributes: Readonly<Record<string, string>>): Prefixes {
  const prefixes = new Map(outer);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === 'xmlns') prefixes.set('', value);
    else if (attribute.startsWith('xmlns:')) prefixes.set(attribute.slice('xmlns:'.length), value);
  }
  return prefixes;
}

function split(qualified: string): [prefix: string, name: string] {
  const colon = qualified.indexOf(':');
  return [qualified.slice(0, Math.max(0, colon)), qualified.slice(colon + 1)];
}

function namespaceOf(prefix: string, prefixes: Prefixes): string {
  const namespace = prefixes.get(prefix);
  if (namespace === undefined && prefix !== '') throw new Error(`The prefix ${prefix} is not declared`);
  return namespace ?? '';
}
