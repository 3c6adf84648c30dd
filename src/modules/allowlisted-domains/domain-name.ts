import { domainToASCII } from 'node:url';

/** RFC 1035, section 2.3.4, without the root's dot. */
const MAX_NAME_LENGTH = 253;
/** Letters, digits, hyphens and dots: what people write. Anything else `domainToASCII` might read as a URL's. */
const WRITTEN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** The last label of an address is a number (RFC 3696, section 2), and that of a domain is none. */
const NUMBER = /^\d+$/;

/**
 * A domain as DNS knows it: in ASCII (IDNA) and lower case, of two labels or more.
 *
 * @returns undefined when the text is no such name: an address, a single label, a URL
 */
export function domainName(text: string): string | undefined {
  if (!WRITTEN.test(text)) return undefined;
  const name = domainToASCII(text);
  const labels = name.split('.');
  if (name.length > MAX_NAME_LENGTH || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
    return undefined;
  return NUMBER.test(labels.at(-1) ?? '') ? undefined : name;
}
