/**
 * The lines of a stream in UTF-8, without a byte order mark. Of a line that is longer than the limit only
 * the beginning comes, one character more than the limit: memory must not depend on what somebody sends.
 * (`node:readline` holds any line whole, and loses those that come before somebody listens.)
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let line = '';
  for await (const chunk of input) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      yield (line + part).slice(0, limit + 1);
      line = '';
    }
    line = (line + rest).slice(0, limit + 1);
  }
  line += decoder.decode();
  if (line !== '') yield line;
}
