import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  UrlElicitationRequiredError,
  type CallToolResult,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { z } from 'zod';
import {
  AGENT_SCOPES,
  AgentLogins,
  agentKeyOf,
  insufficientScope,
  INSUFFICIENT_SCOPE,
  type AuthenticatedAgent,
} from '../../../infrastructure/auth/index.js';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS, type ApiError } from '../../../infrastructure/errors/index.js';
import { Failures, slashAtEndOf } from '../../../infrastructure/http/index.js';
import { CounterMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import {
  ConnectorRateLimitConfiguration,
  perMinute,
  RateLimiters,
} from '../../../infrastructure/rate-limiting/index.js';
import { similarName } from '../../../infrastructure/validation/index.js';
import { Clock, MINUTE } from '../../../infrastructure/time/index.js';
import { exampleOf, readArguments } from './tool-arguments.js';
import type { Tool } from './tool.js';
import { UrlElicitation, type ElicitationWay } from './url-elicitation.js';

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

/** The properties of a request that the server needs to process its message. */
export interface MessageContext {
  readonly agent: AuthenticatedAgent;
  readonly requestId: string;
  /** Undefined if the message calls no tool, or one that does not exist. */
  readonly tool: Tool | undefined;
  /** Why the call is refused, if it is. */
  readonly refusal: ApiError | undefined;
  /** Undefined if the client takes no URLs for its user. */
  readonly elicitation: ElicitationWay | undefined;
  /** The IDs of elicitations whose completion the client is notified of. */
  readonly completed: string[];
}

/** The name of the field in which a client returns the result of an elicitation. */
const ELICITATION = 'url';
const STATE_LIFETIME = 15 * MINUTE;

/** The fields that a client sends beside the arguments when it continues a call. */
interface Continuation {
  /** The ID of the elicitation, from the state of the request. */
  readonly id: string | undefined;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
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
    private readonly sealer: Sealer,
    private readonly clock: Clock,
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
      const address = response.req.params['client_id'];
      const url = await this.logins.metadataUrlOf(String(address ?? client.clientId));
      const metadata = url && address ? url + slashAtEndOf(response.req) : url;
      throw INSUFFICIENT_SCOPE.error(`The tool ${tool.name} requires the scope ${tool.scope}.`, {
        headers: { 'WWW-Authenticate': insufficientScope(needed, metadata) },
      });
    }
    const state = await this.limit.consume(agentKeyOf(agent));
    response.set(this.limit.headersOf(state));
    let { retryAfter } = state;
    if (connectionId !== null)
      retryAfter ??= await this.userLimit.count(
        sha256(`${client.clientId} ${externalUserId}`).toString('base64url'),
      );
    if (retryAfter === undefined) return await tool?.unavailableTo?.(agent);
    return TOO_MANY_REQUESTS.error(
      'There were too many tool calls within a minute. Wait the number of seconds given in retry_after.',
      { retryAfter },
    );
  }

  /**
   * @throws ProtocolError if there is no such tool
   * @throws UrlElicitationRequiredError if the user has to open a URL, to clients of revision 2025-11-25
   */
  async run(
    context: MessageContext,
    input: object = {},
    { id, responses }: Continuation,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { agent, tool, requestId, refusal, elicitation } = context;
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool with this name.');
    try {
      if (refusal) throw refusal;
      const { data, error } = tool.input.safeParse(readArguments(input, tool.input));
      if (error) throw INVALID_FIELD.error(messageOf(error, tool));
      const answer = responses?.[ELICITATION] as { readonly action?: unknown } | undefined;
      const result = await tool.run(agent, data, {
        elicitsUrls: elicitation !== undefined,
        repeatsCalls: elicitation === 'error',
        elicited: id === undefined ? undefined : { id, isAccepted: answer?.action === 'accept' },
        complete: (completed) => context.completed.push(completed),
      });
      this.calls.inc({ tool: tool.name, outcome: 'success' });
      if (!(result instanceof UrlElicitation))
        return { content: [textOf(result)], structuredContent: result };
      const { id: elicitationId, url, message } = result;
      if (elicitation === 'error')
        throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message }], message);
      return inputRequired({
        inputRequests: { [ELICITATION]: inputRequired.elicitUrl({ url, message }) },
        requestState: this.sealState(context, elicitationId),
      });
    } catch (error) {
      if (error instanceof UrlElicitationRequiredError) throw error;
      const problem = this.failures.toApiError(error, requestId);
      this.calls.inc({ tool: tool.name, outcome: problem.status < 500 ? 'refused' : 'failure' });
      const { retryAfter } = problem.options;
      // Models do not see headers: the body says how long to wait.
      const body = { ...problem.body, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
      // Without `structuredContent`, which clients compare with the output schema.
      return { content: [textOf(body)], isError: true };
    }
  }

  /** Returns the state with which the same agent can continue the call, and nobody else can. */
  private sealState(context: MessageContext, id: string): string {
    const state = JSON.stringify([id, this.clock.milliseconds() + STATE_LIFETIME]);
    return this.sealer.seal(state, ownerOfState(context)).toString('base64url');
  }

  /** Returns the ID of the elicitation in a state. @throws Error if the state is not that of a call of this agent, or too old */
  openState(state: string, context: MessageContext): string {
    const text = this.sealer.open(Buffer.from(state, 'base64url'), ownerOfState(context));
    const [id, expiresAt] = JSON.parse(text) as [string, number];
    if (expiresAt <= this.clock.milliseconds()) throw new Error('The state has expired.');
    return id;
  }
}

function ownerOfState({ agent, tool }: MessageContext): string[] {
  return ['request_state', agentKeyOf(agent), tool?.name ?? ''];
}

function messageOf({ issues }: z.ZodError, { input }: Tool): string {
  // Only names that look like one of the tool's are still there. A missing argument is often the consequence.
  const misspelled = issues.find((each) => each.code === 'unrecognized_keys');
  if (misspelled) {
    const [name = ''] = misspelled.keys;
    return `The argument ${JSON.stringify(name)} is not known. Did you mean ${similarName(name, Object.keys(input.shape))}?`;
  }
  const [issue] = issues;
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
