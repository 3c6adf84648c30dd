import { Injectable } from '@nestjs/common';
import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD, type ApiError } from '../../../infrastructure/errors/index.js';
import { Failures } from '../../../infrastructure/http/index.js';
import { CounterMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import type { Tool } from './tool.js';
import { Tools } from './tools.js';

const CALLS = new CounterMetric({
  name: 'mcs_tool_calls_total',
  help: 'Tool calls of agents, by outcome: `success`, `refused` if the agent or its user has to correct something, or `failure` of the service.',
  labels: ['tool', 'outcome'],
});

/** The `params` of `tools/call`. */
interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** Runs tools, and turns what they throw into results that a model can read. */
@Injectable()
export class ToolCalls {
  private readonly calls = this.metrics.counter(CALLS);

  constructor(
    private readonly tools: Tools,
    private readonly failures: Failures,
    private readonly metrics: Metrics,
  ) {}

  /** @throws ProtocolError if there is no such tool */
  async run(agent: AuthenticatedAgent, call: ToolCall, requestId: string): Promise<CallToolResult> {
    const tool = this.tools.find(call.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool with this name.');
    try {
      const result = await perform(tool, agent, call.arguments ?? {});
      this.calls.inc({ tool: tool.name, outcome: 'success' });
      return { content: [textOf(result)], structuredContent: result };
    } catch (error) {
      const problem = this.failures.report(error, requestId);
      this.calls.inc({ tool: tool.name, outcome: problem.status < 500 ? 'refused' : 'failure' });
      // Without `structuredContent`, which clients compare with the output schema.
      return { content: [textOf(bodyOf(problem))], isError: true };
    }
  }
}

function perform(tool: Tool, agent: AuthenticatedAgent, input: object): Promise<Record<string, unknown>> {
  const problem = tool.unavailableTo(agent);
  if (problem) throw problem;
  const { data, error } = tool.input.safeParse(input);
  if (error) throw INVALID_FIELD.error(messageOf(error));
  return tool.run(agent, data);
}

function messageOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  return `${path === '' ? 'The arguments are' : `The argument ${path} is`} not valid: ${issue?.message}`;
}

/** Models do not see headers: the body says how long to wait. */
function bodyOf({ body, options }: ApiError): object {
  return options.retryAfter === undefined ? body : { ...body, retry_after: options.retryAfter };
}

function textOf(value: object): { type: 'text'; text: string } {
  return { type: 'text', text: JSON.stringify(value) };
}
