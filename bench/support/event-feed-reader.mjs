/**
 * A program that reads an event feed. It continues after the last complete line of its journal, and appends a line for each page: its
 * events and its cursor, so that both are stored or neither, whenever the program is killed.
 */
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const { JOURNAL, AUTHORIZATION, BASE_URLS } = process.env;
const urls = BASE_URLS.split(',');

let cursor;
if (existsSync(JOURNAL)) {
  const text = readFileSync(JOURNAL, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  truncateSync(JOURNAL, Buffer.byteLength(text.slice(0, end)));
  const last = text.slice(0, end).trimEnd().split('\n').at(-1);
  if (last) ({ cursor } = JSON.parse(last));
}
console.log('ready');
for (let attempt = 0; ; attempt += 1) {
  const query = new URLSearchParams({ wait: '2', limit: '50', ...(cursor && { cursor }) });
  const response = await fetch(`${urls[attempt % urls.length]}/webhook-events?${query}`, {
    headers: { authorization: AUTHORIZATION },
    signal: AbortSignal.timeout(30_000),
  }).catch(() => undefined);
  const page = response?.ok ? await response.json().catch(() => undefined) : undefined;
  if (!page) {
    if (response && response.status < 500) throw new Error(await response.text());
    await pause(50);
    continue;
  }
  cursor = page.next_cursor;
  if (page.data.length > 0)
    appendFileSync(JOURNAL, `${JSON.stringify({ ids: page.data.map(({ id }) => id), cursor })}\n`);
}
