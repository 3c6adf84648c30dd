import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentScope, AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import type { Elicited, UrlElicitation } from './url-elicitation.js';
import { isMissing, validateText } from '../../../infrastructure/validation/index.js';

/** The client that calls a tool, as far as it can show URLs to its user. */
interface ToolClient {
  readonly elicitsUrls: boolean;
  /** Whether the client repeats the call after a `UrlElicitation`, without saying that it continues one. */
  readonly repeatsCalls: boolean;
  /** Defined if the call continues one that returned a `UrlElicitation`. */
  readonly elicited?: Elicited | undefined;
  /** Notifies the client that the user has completed a `UrlElicitation`. */
  complete(id: string): void;
}

/** A tool that agents can call for their user. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** In snake_case. */
  readonly name: string;
  readonly title: string;
  /** Says to a model what the tool does and when to use it. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly scope: AgentScope;
  readonly input: Input;
  readonly output: Output;

  /**
   * Runs the tool with arguments that match `input`.
   *
   * @throws ApiError which the agent gets as the result
   */
  run(
    agent: AuthenticatedAgent,
    input: z.output<Input>,
    client: ToolClient,
  ): Promise<z.input<Output> | UrlElicitation>;

  /** Returns why the agent cannot use the tool, which `tools/list` then leaves out. Calls get the error. */
  unavailableTo?(agent: AuthenticatedAgent): Promise<ApiError | undefined>;
}

/** Tools that use the same services. A new class also has to be added to `TOOL_CLASSES`. */
export interface ToolGroup {
  readonly tools: readonly Tool[];
}

/** Returns the tool. TypeScript takes the types of its arguments and its result from its schemas. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  described: Tool<Input, Output>,
): Tool<Input, Output> {
  return described;
}

/** Annotations of a tool that changes nothing. Without them, clients assume the opposite of each. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * An argument that may be absent. `readArguments` reads null and blank text as absent, because clients with strict schemas send
 * every argument. The schema does not say so: converters for Gemini fail on a list of types.
 */
export function optional<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): z.ZodOptional<Schema> {
  return schema.optional().describe(description);
}

/** A part of a result that can be null. The schema has no type, because converters fail on a list of types. */
export function nullable<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): z.ZodNullable<Schema> {
  return schema.nullable().meta({ anyOf: undefined, description });
}

/** A text that can be stored: 1 to `max` Unicode code points, not blank. Zod would count UTF-16 units. */
export function text(max: number, description?: string): z.ZodString {
  return z
    .string()
    .min(1)
    .superRefine((value, context) => {
      if (!isMissing(value) && validateText('', value, max) === undefined) return;
      const message = `expected text that is not blank, with at most ${max} characters and without U+0000`;
      context.addIssue({ code: 'custom', message: `Invalid input: ${message}` });
    })
    .meta({ maxLength: max, ...(description !== undefined && { description }) });
}

/** A time in results: ISO 8601 in UTC. */
export const TIMESTAMP = z.string().meta({ format: 'date-time' });

export const MERCHANT = z.object({ id: z.int(), name: z.string() });

export const CURSOR = optional(z.string().max(512), 'next_cursor of the previous page.');

export const NEXT_CURSOR = nullable(z.string(), 'null on the last page');

/** Entries per page, for tools that have no argument for it. */
export const PAGE_SIZE = 50;
