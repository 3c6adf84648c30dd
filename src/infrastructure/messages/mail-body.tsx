import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A part of an email: a paragraph, or one of the others. */
export type MailPart =
  | string
  /** A link to a page of the service. In HTML it looks like a button. */
  | { readonly link: string; readonly label: string }
  /** Names and values. */
  | { readonly facts: Readonly<Record<string, string>> }
  /** The steps to take, in order. */
  | { readonly steps: readonly string[] };

const PRODUCT = 'Merchant Connectivity';
/** Ends the text of every email (RFC 3676, section 4.3). */
const SIGNATURE = `-- \n${PRODUCT}\n`;
/** Characters of a line of text. */
const WIDTH = 76;

export function textOf(body: readonly MailPart[]): string {
  return [...body.map(textOfPart), SIGNATURE].join('\n\n');
}

function textOfPart(part: MailPart): string {
  if (typeof part === 'string') return wrapped(part);
  if ('link' in part) return part.link;
  if ('facts' in part)
    return Object.entries(part.facts)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  return part.steps.map((step, index) => wrapped(`${index + 1}. ${step}`, '   ')).join('\n');
}

/** Breaks lines between words. A longer word, such as a link, stays whole. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : indent + word);
  }
  return lines.join('\n');
}

/** The colors of the pages. Programs that read emails ignore style sheets, so each element has its own styles. */
const INK = '#1a1d24';
const SOFT = '#4a5160';
const ACCENT = '#1747a6';
const STYLES = {
  page: `margin:0;padding:24px 12px;background:#f4f6f9;color:${INK};font:16px/1.5 system-ui,sans-serif`,
  card: 'max-width:560px;margin:0 auto;padding:8px 24px 16px;background:#ffffff;border:1px solid #d5dae3;border-radius:12px',
  product: `max-width:560px;margin:0 auto 12px;font-weight:700`,
  heading: 'margin:16px 0;font-size:22px;line-height:1.25',
  button: `display:inline-block;padding:10px 20px;border-radius:6px;background:${ACCENT};color:#ffffff;font-weight:600;text-decoration:none`,
  address: `color:${SOFT};font-size:13px;word-break:break-all`,
  name: `padding:4px 16px 4px 0;color:${SOFT};text-align:left;vertical-align:top;font-weight:400`,
  value: 'padding:4px 0;word-break:break-word',
} as const;

export function htmlOf(subject: string, body: readonly MailPart[]): string {
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{subject}</title>
      </head>
      <body style={STYLES.page}>
        <p style={STYLES.product}>{PRODUCT}</p>
        <div style={STYLES.card}>
          <h1 style={STYLES.heading}>{subject}</h1>
          {body.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </div>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}

function Part({ part }: { readonly part: MailPart }): VNode {
  if (typeof part === 'string') return <p>{part}</p>;
  if ('link' in part)
    return (
      <>
        <p>
          <a href={part.link} style={STYLES.button}>
            {part.label}
          </a>
        </p>
        <p style={STYLES.address}>{part.link}</p>
      </>
    );
  if ('facts' in part)
    return (
      <table>
        <tbody>
          {Object.entries(part.facts).map(([name, value]) => (
            <tr key={name}>
              <th scope="row" style={STYLES.name}>
                {name}
              </th>
              <td style={STYLES.value}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    );
  return (
    <ol>
      {part.steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  );
}
