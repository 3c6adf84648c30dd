import { SaxesParser } from 'saxes';

/** An element with its namespace resolved. */
export interface XmlElement {
  readonly namespace: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** The text of the element itself, without its children. */
  text: string;
}

/**
 * Limits for a document, well above what metadata of identity providers needs. `nodes` are elements, texts, CDATA sections,
 * comments and processing instructions; `namespaces` are declarations that differ from each other. `replacements` are references
 * and carriage returns, which every parser replaces one by one: 60,000 references take four times as long as as much text.
 * Some providers end each line of base64 with a reference to a carriage return, and forms end all lines with one.
 * `values` are the characters of all attribute values, whose line breaks are replaced one by one, too.
 */
export const XML_LIMITS = {
  replacements: 20_000,
  values: 262_144,
  nodes: 20_000,
  elements: 5_000,
  attributes: 5_000,
  declarations: 2_000,
  namespaces: 200,
  depth: 32,
} as const;

type XmlLimits = Readonly<Record<keyof typeof XML_LIMITS, number>>;

/** Why a document cannot be read: a document that is `too complex`, or has `too many references`, exceeds a limit. */
export type XmlProblem = 'malformed' | 'too complex' | 'too many references';

/** A document that exceeds a limit. */
class TooComplex extends Error {}

/**
 * Parses a document in one pass, which ends at the first error or exceeded limit. References are counted before. Document types are rejected, and with
 * them all entities except XML's own five, because they can make parsers fetch URLs and exhaust memory.
 *
 * @param options.refusesComments whether comments and processing instructions make the document `malformed`
 * @returns the root; `malformed` when the text is not well-formed XML with namespaces or has a document type
 */
export function parseXml(
  text: string,
  limits: XmlLimits = XML_LIMITS,
  { refusesComments = false } = {},
): XmlElement | XmlProblem {
  let replacements = 0;
  for (const _ of text.matchAll(/[&\r]/g))
    if ((replacements += 1) > limits.replacements) return 'too many references';
  try {
    return rootOf(text, limits, refusesComments);
  } catch (error) {
    return error instanceof TooComplex ? 'too complex' : 'malformed';
  }
}

function rootOf(text: string, limits: XmlLimits, refusesComments: boolean): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: false });
  /** The stack of open elements. The first one stands for the document, whose only child is the root. */
  const open: XmlElement[] = [{ namespace: '', name: '', attributes: {}, children: [], text: '' }];
  const counts = { nodes: 0, elements: 0, attributes: 0, values: 0, declarations: 0, namespaces: 0 };
  const namespaces = new Set<string>();
  const count = (what: keyof typeof counts, more = 1): void => {
    counts[what] += more;
    if (counts[what] > limits[what]) throw new TooComplex();
  };
  const addText = (part: string): void => {
    count('nodes');
    (open.at(-1) as XmlElement).text += part;
  };
  const addComment = (): void => {
    if (refusesComments) throw new Error('Comments and processing instructions are not allowed');
    count('nodes');
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('Document types are not allowed');
  });
  parser.on('comment', addComment);
  parser.on('processinginstruction', addComment);
  parser.on('attribute', ({ name, prefix, value }) => {
    const isDeclaration = name === 'xmlns' || prefix === 'xmlns';
    count(isDeclaration ? 'declarations' : 'attributes');
    count('values', value.length);
    if (!isDeclaration || namespaces.has(`${name} ${value}`)) return;
    count('namespaces');
    namespaces.add(`${name} ${value}`);
  });
  parser.on('opentag', ({ uri: namespace, local: name, attributes: found }) => {
    count('elements');
    count('nodes');
    if (open.length > limits.depth) throw new TooComplex();
    const attributes = Object.fromEntries(Object.values(found).map((each) => [each.name, each.value]));
    const element = { namespace, name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return open[0]?.children[0] as XmlElement;
}

export function childrenOf(element: XmlElement, namespace: string, name: string): XmlElement[] {
  return element.children.filter((child) => child.namespace === namespace && child.name === name);
}

/** Returns the element and everything in it that has this name, in any namespace. */
export function allNamed(root: XmlElement, ...names: readonly string[]): XmlElement[] {
  const below = root.children.flatMap((child) => allNamed(child, ...names));
  return names.includes(root.name) ? [root, ...below] : below;
}
