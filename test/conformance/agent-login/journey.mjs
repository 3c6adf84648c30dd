/**
 * The journey of every client, after it has logged in: calls a tool, calls it again when its access token has expired, and once more
 * when the user has disconnected the agent, which must fail. Prints one line of JSON for each.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const { TOKEN_LIFETIME } = process.env;

/** @param agent `{ revision(), tools(), call() }` */
export async function travel(agent) {
  const tools = await agent.tools();
  const called = await agent.call();
  report({ revision: await agent.revision(), tools: tools.length, ...called });
  await sleep(Number(TOKEN_LIFETIME) + 1000);
  report(await agent.call());
  await once(process.stdin, 'data');
  report(
    await agent.call().then(
      () => ({}),
      (error) => ({ error: String(error.message ?? error) }),
    ),
  );
  process.exit(0);
}

const report = (line) => console.log(JSON.stringify(line));

export const TOOL = 'get_connection_info';
/** @returns the part of the result that the journey reports */
export const resultOf = ({ content }) => ({ environment: JSON.parse(content[0].text).environment });
