import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { jsonSchemaOf } from '../../../infrastructure/schemas/index.js';
import { ConnectionTools } from './connection.tools.js';
import { MerchantTools } from './merchant.tools.js';
import { SignInLinkTools } from './sign-in-link.tools.js';
import type { Tool } from './tool.js';

/** The classes of the tools, in the order of `tools/list`. */
export const TOOL_CLASSES = [ConnectionTools, MerchantTools, SignInLinkTools];

/** Knows all tools, and lists those that an agent can use. */
export class Tools {
  private readonly tools: ReadonlyMap<string, Tool>;
  private readonly listed: ReadonlyMap<Tool, ListedTool>;

  constructor(tools: readonly Tool[]) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.listed = new Map(tools.map((tool) => [tool, listed(tool)]));
  }

  find(name: unknown): Tool | undefined {
    return typeof name === 'string' ? this.tools.get(name) : undefined;
  }

  async offeredTo(agent: AuthenticatedAgent): Promise<ListedTool[]> {
    const offered = [...this.listed].map(async ([tool, description]) =>
      (await tool.unavailableTo?.(agent)) ? [] : [description],
    );
    return (await Promise.all(offered)).flat();
  }
}

function listed({ name, title, description, annotations, input, output }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    // Clients of earlier revisions read the title there.
    annotations: { title, ...annotations },
    // Every model pays for the length of the list.
    inputSchema: jsonSchemaOf(input) as ListedTool['inputSchema'],
    outputSchema: jsonSchemaOf(output) as ListedTool['outputSchema'],
  };
}
