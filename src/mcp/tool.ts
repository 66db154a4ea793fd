/** The shape of a tool: a task of an agent, which is done with operations of the API. */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { Calls } from '../http/json/calls.ts';

/**
 * Effect of a tool, from which its hints follow:
 *
 * - `reads`: it changes nothing.
 * - `adds`: it makes something new, which nobody outside sees.
 * - `changes`: it changes or ends something of the tenant. Repeating it changes nothing more.
 * - `looksUp`: it asks other machines, and stores what they say.
 * - `sends`: it makes mail leave, or allows that it leaves. That cannot be undone.
 */
type Effect = 'reads' | 'adds' | 'changes' | 'looksUp' | 'sends';

type Hints = Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>;

/** Hints of tools (specification 2026-07-28 of MCP, ToolAnnotations). Clients decide by them whether a person is asked first. */
export const HINTS: Readonly<Record<Effect, Hints>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  changes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  looksUp: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  sends: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/**
 * Answer of a tool. `says` are sentences of this program, in which nothing stands that others have written. `facts` are ids, states and
 * numbers alone, and have the schema of the tool. Everything else is `foreign`: it is shown as data, which no agent may obey.
 */
export type Answer = { says: string } & ({ facts: Readonly<Record<string, unknown>> } | { foreign: unknown });

/** Context that a tool works with. */
export type ToolContext = {
  /** Mailbox that the key names; null for a key of the tenant. */
  mailboxId: string | null;
  /** Operations under `/v1`, with the API key of the call. */
  api: Calls;
  /** Returns the same operations, of which each POST has an idempotency key. */
  apiOnce(idempotencyKey: string): Calls;
  /** Returns a new idempotency key. */
  newIdempotencyKey(): string;
};

export type Tool = {
  name: string;
  title: string;
  /** Says when the tool is to be used, and what its answer has. */
  description: string;
  effect: Effect;
  input: TObject;
  /** Schema of the facts; a tool whose answer is foreign has none. */
  output?: TObject;
  run(context: ToolContext, given: never): Promise<Answer>;
};

type ToolDefinition<Input extends TObject> = Omit<Tool, 'input' | 'run'> & {
  input: Input;
  run(context: ToolContext, given: Static<Input>): Promise<Answer>;
};

/** Defines a tool, whose arguments have the type of its input. */
export function defineTool<Input extends TObject>(tool: ToolDefinition<Input>): Tool {
  return tool;
}

/** Returns the schema of the arguments of a tool, which has no others. */
export function input<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}
