import { domainToASCII } from 'node:url';

/** RFC 1035, section 2.3.4, without the dot of the root. */
export const MAX_NAME_LENGTH = 253;
/** Letters, digits, hyphens and dots. `domainToASCII` might read other characters as parts of a URL. */
const WRITTEN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** The last label of an IP address is a number, and that of a domain is not (RFC 3696, section 2). */
const NUMBER = /^\d+$/;

/**
 * Returns a domain as DNS compares it: in ASCII (IDNA) and lowercase, with at least two labels.
 *
 * @returns undefined when the text is something else, such as an IP address, a single label or a URL
 */
export function domainName(text: string): string | undefined {
  if (!WRITTEN.test(text)) return undefined;
  const name = domainToASCII(text);
  const labels = name.split('.');
  if (name.length > MAX_NAME_LENGTH || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
    return undefined;
  return NUMBER.test(labels.at(-1) ?? '') ? undefined : name;
}

/** Returns the domain of an email address. */
export function domainOf(email: string): string | undefined {
  return domainName(email.slice(email.lastIndexOf('@') + 1));
}
