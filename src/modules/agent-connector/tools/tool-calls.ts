import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { z } from 'zod';
import {
  AGENT_SCOPES,
  AgentLogins,
  agentKeyOf,
  insufficientScope,
  type AuthenticatedAgent,
} from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import {
  INSUFFICIENT_SCOPE,
  INVALID_FIELD,
  TOO_MANY_REQUESTS,
  type ApiError,
} from '../../../infrastructure/errors/index.js';
import { Failures } from '../../../infrastructure/http/index.js';
import { CounterMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import {
  ConnectorRateLimitConfiguration,
  perMinute,
  RateLimiters,
} from '../../../infrastructure/rate-limiting/index.js';
import { exampleOf, readArguments } from './tool-arguments.js';
import type { Tool } from './tool.js';

const LIMIT = perMinute('tool-calls', 'agent', ConnectorRateLimitConfiguration, 'toolCallsPerMinute');

/** Counts all agents that a user has connected together: a user, or an agent, can connect any number of times. */
const USER_LIMIT = perMinute(
  'tool-calls-of-user',
  'user',
  ConnectorRateLimitConfiguration,
  'toolCallsPerMinuteAndUser',
);

const CALLS = new CounterMetric({
  name: 'mcs_tool_calls_total',
  help: 'Tool calls of agents, by outcome: `success`, `refused` if the agent or its user has to correct something, or `failure` of the service.',
  labels: ['tool', 'outcome'],
});

/** Characters of an argument's name that an error repeats. */
const QUOTE_LENGTH = 40;

/** What the server that processes a message has to know about the request. */
export interface MessageContext {
  readonly agent: AuthenticatedAgent;
  readonly requestId: string;
  /** Undefined if the message calls no tool, or one that does not exist. */
  readonly tool: Tool | undefined;
  /** Why the call is refused, if it is. */
  readonly refusal: ApiError | undefined;
}

/** Runs tools, and turns what they throw into results that a model can read. */
@Injectable()
export class ToolCalls {
  private readonly calls = this.metrics.counter(CALLS);
  private readonly limit = this.limiters.limit(LIMIT);
  private readonly userLimit = this.limiters.limit(USER_LIMIT);

  constructor(
    private readonly limiters: RateLimiters,
    private readonly logins: AgentLogins,
    private readonly failures: Failures,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Counts the call, and returns why the agent cannot call the tool now. The limit is not a guard: at a response with the status
   * 429, clients of earlier revisions end the conversation. Agents that log in can ask the user for another scope, but
   * only when the status of the response says that one is missing (MCP, "Authorization", scope challenge).
   *
   * @throws ApiError INSUFFICIENT_SCOPE
   */
  async admit(
    agent: AuthenticatedAgent,
    tool: Tool | undefined,
    response: Response,
  ): Promise<ApiError | undefined> {
    const { scopes, client, connectionId, externalUserId } = agent;
    if (tool && !scopes.includes(tool.scope)) {
      const needed = AGENT_SCOPES.filter((scope) => scope === tool.scope || scopes.includes(scope));
      const address = String(response.req.params['client_id'] ?? client.clientId);
      throw INSUFFICIENT_SCOPE.error(`The tool ${tool.name} requires the scope ${tool.scope}.`, {
        headers: { 'WWW-Authenticate': insufficientScope(needed, await this.logins.metadataUrlOf(address)) },
      });
    }
    const state = await this.limit.consume(agentKeyOf(agent));
    response.set(this.limit.headersOf(state));
    let { retryAfter } = state;
    if (connectionId !== null)
      retryAfter ??= await this.userLimit.count(
        sha256(`${client.clientId} ${externalUserId}`).toString('base64url'),
      );
    if (retryAfter === undefined) return tool?.unavailableTo?.(agent);
    return TOO_MANY_REQUESTS.error(
      'There were too many tool calls within a minute. Wait the number of seconds given in retry_after.',
      { retryAfter },
    );
  }

  /** @throws ProtocolError if there is no such tool */
  async run(
    { agent, tool, requestId, refusal }: MessageContext,
    input: object = {},
  ): Promise<CallToolResult> {
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool with this name.');
    try {
      if (refusal) throw refusal;
      const { data, error } = tool.input.safeParse(readArguments(input, tool.input));
      if (error) throw INVALID_FIELD.error(messageOf(error, tool));
      const result = await tool.run(agent, data);
      this.calls.inc({ tool: tool.name, outcome: 'success' });
      return { content: [textOf(result)], structuredContent: result };
    } catch (error) {
      const problem = this.failures.report(error, requestId);
      this.calls.inc({ tool: tool.name, outcome: problem.status < 500 ? 'refused' : 'failure' });
      const { retryAfter } = problem.options;
      // Models do not see headers: the body says how long to wait.
      const body = { ...problem.body, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
      // Without `structuredContent`, which clients compare with the output schema.
      return { content: [textOf(body)], isError: true };
    }
  }
}

function messageOf({ issues: [issue] }: z.ZodError, { input }: Tool): string {
  if (issue?.code === 'unrecognized_keys')
    return `The arguments are not valid: ${JSON.stringify(issue.keys[0]?.slice(0, QUOTE_LENGTH).toWellFormed())} is not known.`;
  const path = issue?.path.join('.') ?? '';
  const message = `${path === '' ? 'The arguments are' : `The argument ${path} is`} not valid: ${issue?.message}`;
  // A value that is missing needs no other form.
  const hasWrongForm = issue?.code === 'invalid_type' && !issue.message.endsWith('received undefined');
  return hasWrongForm
    ? `${message}. Send arguments in this form: ${exampleOf(input, issue.path[0])}`
    : message;
}

function textOf(value: object): { type: 'text'; text: string } {
  return { type: 'text', text: JSON.stringify(value) };
}
