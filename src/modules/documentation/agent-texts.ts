import type { ApiTopic } from './api-operations.js';
import type { CatalogGroup } from './guides.js';

/** Returns the list of pages for agents, as Markdown (llmstxt.org). @param url of the site */
export function llmsText(groups: readonly CatalogGroup[], topics: readonly ApiTopic[], url: string): string {
  const pages = groups.flatMap(({ title, entries }) => [
    `## ${title}`,
    '',
    ...entries.map((entry) => `- [${entry.title}](${url}${entry.path}.md): ${entry.topic}`),
    '',
  ]);
  return [
    '# Merchant Connectivity Service',
    '',
    '> An API with which platforms issue MCP tokens for agents, look up the merchant accounts that were detected for their users, ' +
      'and receive or read events when something changes.',
    '',
    'Each page is Markdown. Every operation, field and error is in the API document: ' +
      `[OpenAPI 3.1](${url}/openapi.json), [as YAML](${url}/openapi.yaml), [OpenAPI 3.0](${url}/openapi-3.0.json).`,
    '',
    ...pages,
    '## Operations by topic',
    '',
    ...topics.map(
      ({ tag, path, description }) => `- [${tag}](${url}${path}.md): ${withoutLinks(description)}`,
    ),
    '',
  ].join('\n');
}

const withoutLinks = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');

/** Returns the API reference as Markdown. @param introduction of the API document: what all operations have in common */
export function referenceText(topics: readonly ApiTopic[], introduction: string): string {
  return [
    '# API reference',
    '',
    introduction,
    '',
    'These are all operations. Their fields, responses and errors are in the [API document](/openapi.json).',
    '',
    ...topics.flatMap((topic) => [`## ${topic.tag}`, '', ...operationTexts(topic, '###')]),
  ].join('\n');
}

/** Returns a topic of the API reference as Markdown. */
export function topicText(topic: ApiTopic): string {
  return [`# ${topic.tag}`, '', topic.description, '', ...operationTexts(topic, '##')].join('\n');
}

/** Returns the operations of a topic, with links to their fields, responses and errors. */
function operationTexts({ operations }: ApiTopic, heading: string): string[] {
  return operations.flatMap(({ method, path, summary, description, href }) => [
    `${heading} [${method} ${path}](${href})`,
    '',
    `${summary}. ${description}`,
    '',
  ]);
}

/**
 * Returns the file that says where to report security problems (RFC 9116). It is valid for some months, and the service creates it
 * anew for each request.
 */
export function securityText(contacts: readonly string[], now: Date, url: string | undefined): string {
  const expires = new Date(now);
  expires.setUTCHours(0, 0, 0, 0);
  expires.setUTCDate(expires.getUTCDate() + DAYS_VALID);
  return [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    'Preferred-Languages: en',
    ...(url === undefined ? [] : [`Canonical: ${url}/.well-known/security.txt`]),
    '',
  ].join('\n');
}

const DAYS_VALID = 90;
