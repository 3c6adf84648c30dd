import { setImmediate as nextTurn } from 'node:timers/promises';
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import plaintext from 'highlight.js/lib/languages/plaintext';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Marked, type Token, type Tokens } from 'marked';

const LANGUAGES = { bash, go, http, java, javascript, json, php, plaintext, python, ruby, typescript, yaml };

// Each language also registers its usual abbreviations, such as `sh`.
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Returns code as HTML whose spans have classes for colors. Code in an unknown language is only escaped. */
export function highlightedCode(code: string, language: string): string {
  const known = hljs.getLanguage(language) ? language : 'plaintext';
  // highlight.js would guess the language of a message's body: it tries all, which takes 0.2 s at first.
  const [head = '', ...body] = known === 'http' ? code.split(/(?<=\n)(?=\n)/) : [code];
  const bodies = body.map((part) => hljs.highlight(part, { language: 'json' }).value);
  return [hljs.highlight(head, { language: known }).value, ...bodies].join('');
}

/** A heading of a page. Its ID is the one that GitHub gives it, because pages link to each other's headings. */
interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** A heading with the text below it, up to the next heading. */
export interface Section extends Heading {
  readonly content: string;
  /** Other words for its topic, from a comment such as `<!-- search: static IP -->`. */
  readonly keywords: string;
}

export interface RenderedMarkdown {
  readonly html: string;
  readonly title: string;
  readonly sections: readonly Section[];
}

/** A link of a page. Its text is replaced if it is the name of a file. */
export interface LinkTarget {
  readonly href: string;
  readonly title?: string | undefined;
}

/** Returns where a link of the page leads on the site, or undefined for a file that the site does not publish. */
export type ResolveLink = (href: string) => LinkTarget | undefined;

const KEYWORDS = /^<!-- search: (.+) -->/;
const FILE_NAME = /^[\w./-]+\.\w+$/;

/** Renders a page. HTML in it, such as instructions to the tests in comments, is left out. */
export async function renderMarkdown(markdown: string, resolveLink: ResolveLink): Promise<RenderedMarkdown> {
  const slugger = new GithubSlugger();
  const marked = new Marked({
    renderer: {
      html: () => '',
      heading({ tokens, depth }) {
        const text = textOf(tokens);
        const id = slugger.slug(text);
        if (depth === 1) return `<h1 id="${id}">${this.parser.parseInline(tokens)}</h1>\n`;
        return (
          `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ` +
          `<a class="anchor" href="#${id}" aria-label="${escaped(`Link to “${text}”`)}">#</a></h${depth}>\n`
        );
      },
      code({ text, lang }) {
        const { language } = fenceOf(lang);
        return `<pre tabindex="0" class="language-${escaped(language || 'text')}"><code>${highlightedCode(text, language)}</code></pre>\n`;
      },
      table({ header, rows }) {
        const row = (cells: Tokens.TableCell[], name: string): string =>
          `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`;
        const body = rows.map((cells) => row(cells, 'td')).join('\n');
        return (
          '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n' +
          `<thead>${row(header, 'th')}</thead>\n<tbody>${body}</tbody>\n</table></div>\n`
        );
      },
      link({ href, tokens }) {
        const target = resolveLink(href);
        const text = this.parser.parseInline(tokens);
        return target ? `<a href="${escaped(target.href)}">${text}</a>` : text;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  await nextTurn();
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link') namePage(token as Tokens.Link, resolveLink);
  });
  const sections = sectionsOf(tokens);
  const parts: (string | Tab[])[] = [];
  for (const token of tokens) {
    // Highlighting the programs of a page can take 0.1 s, during which other requests would wait.
    if (token.type === 'code') await nextTurn();
    const html = marked.parser([token]);
    const { label } = fenceOf(token.type === 'code' ? (token as Tokens.Code).lang : undefined);
    const last = parts.at(-1);
    if (label === '') parts.push(...(html === '' ? [] : [html]));
    else if (typeof last === 'object') last.push({ label, html });
    else parts.push([{ label, html }]);
  }
  const html = parts.map((part, index) => (typeof part === 'string' ? part : tabsOf(part, `tabs-${index}`)));
  return { html: html.join(''), title: sections[0]?.text ?? '', sections };
}

/**
 * Renders a description of the API document, which has no headings.
 *
 * @param linkOf returns where a name in backticks leads, such as that of an operation
 */
export function renderDescription(markdown: string, linkOf: (name: string) => string | undefined): string {
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escaped(text),
      codespan({ text }) {
        const href = linkOf(text);
        const code = `<code>${escaped(text)}</code>`;
        return href === undefined ? code : `<a href="${escaped(href)}">${code}</a>`;
      },
    },
  });
  return marked.parser(marked.lexer(markdown));
}

/** A block in one of several languages, of which the reader chooses one. */
export interface Tab {
  readonly label: string;
  readonly html: string;
}

/** Blocks whose fences also have a label, such as `py Python`, become tabs if only comments are between them. */
function fenceOf(lang = ''): { readonly language: string; readonly label: string } {
  const [language = '', ...label] = lang.split(' ');
  return { language, label: label.join(' ') };
}

/** Returns tabs that work without scripts. @param id begins the IDs of its elements */
export function tabsOf(tabs: readonly Tab[], id: string): string {
  const parts = tabs.map(
    ({ label, html }, index) =>
      `<input type="radio" name="${id}" id="${id}-${index}"${index === 0 ? ' checked' : ''}>` +
      `<label for="${id}-${index}">${escaped(label)}</label><div class="tab">${html}</div>`,
  );
  return `<div class="tabs" role="group" aria-label="Language">${parts.join('')}</div>\n`;
}

/** Replaces the name of a file with the title of the page. */
function namePage(link: Tokens.Link, resolveLink: ResolveLink): void {
  const title = resolveLink(link.href)?.title;
  if (title !== undefined && FILE_NAME.test(link.text))
    link.tokens = [{ type: 'text', raw: title, text: title, escaped: false }];
}

/** Returns the sections of a page in order, beginning with that of the title. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const slugger = new GithubSlugger();
  const sections: (Heading & { content: string; keywords: string })[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { depth, tokens: words } = token as Tokens.Heading;
      const text = textOf(words);
      sections.push({ id: slugger.slug(text), text, depth, content: '', keywords: '' });
    } else {
      const section = sections.at(-1);
      if (!section) continue;
      section.content = `${section.content} ${textOf([token])}`.trim();
      section.keywords += KEYWORDS.exec(token.raw)?.[1] ?? '';
    }
  }
  return sections;
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return '';
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows]
          .map((cells) => cells.map((cell) => textOf(cell.tokens)).join(' '))
          .join('\n');
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map(({ tokens: item }) => textOf(item)).join('\n');
      const { tokens: children, text = '' } = token as { tokens?: Token[]; text?: string };
      return children ? textOf(children) : text;
    })
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
