/** Reads and runs the cases that the libraries of all languages share. `sdk/README.md` states their form. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Download, List, SendOptions } from '../src/index.ts';
import { type Postrider, PostriderError } from '../src/index.ts';

export type Operation = { id: string; call: string; path: string; body?: string; query?: boolean };
export type Outcome = {
  result?: unknown;
  text?: string;
  items?: number;
  error?: Record<string, unknown>;
};
export type Step = Outcome & {
  call: string;
  args?: unknown[];
  options?: SendOptions;
  save?: Record<string, string>;
  until?: unknown;
};
type Variables = Record<string, unknown>;
type Method = (...args: unknown[]) => unknown;

const UNTIL_MS = 10_000;
const PAUSE_MS = 100;

const folder = process.env['CONTRACT_DIR'] ?? join(process.cwd(), '../contract');
export const operations = readCases<Operation>('operations');

export function readCases<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as T[];
}

/** Returns the method of a client with the name of an operation. */
export function methodOf(client: Postrider, call: string): Method {
  const names = call.split('.');
  const last = names.pop() ?? '';
  const owner = names.reduce<unknown>((value, name) => (value as Variables)?.[name], client) as Record<
    string,
    Method | undefined
  >;
  const method = owner?.[last];
  assert.ok(typeof method === 'function', `There is no method ${call}.`);
  return method.bind(owner);
}

/** Makes a call and reads all of its answer: the items of a list when they are wanted, and the text of a stream. */
export async function callAndRead(client: Postrider, step: Step, options?: SendOptions): Promise<unknown> {
  const operation = operations.find(({ call }) => call === step.call);
  const count =
    (operation?.path.match(/\{/g)?.length ?? 0) + (operation?.body ? 1 : 0) + (operation?.query ? 1 : 0);
  const args = step.args ?? [];
  const padded = Array.from({ length: Math.max(count, args.length) }, (_, index) => args[index]);
  const answer = methodOf(client, step.call)(...padded, options);
  if (step.items !== undefined) return await allOf(answer as List<unknown>);
  const value = await answer;
  return value instanceof Object && 'text' in value && 'body' in value && 'contentType' in value
    ? await (value as Download).text()
    : value;
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Says whether an outcome is as expected: an error that was thrown, or a value. */
export function check(expected: Outcome, actual: { value?: unknown; error?: unknown }): void {
  if (expected.error !== undefined) {
    assert.ok(actual.error instanceof PostriderError, `No error, but ${JSON.stringify(actual.value)}`);
    for (const [name, value] of Object.entries(expected.error))
      contain((actual.error as unknown as Variables)[name] ?? null, value, name);
    return;
  }
  if ('error' in actual) throw actual.error;
  if (expected.text !== undefined)
    assert.ok(String(actual.value).includes(expected.text), String(actual.value));
  else if (expected.items !== undefined) assert.ok((actual.value as unknown[]).length >= expected.items);
  else if ('result' in expected) contain(actual.value ?? null, expected.result, 'result');
}

/** Asserts that a value has what is expected, and perhaps more. */
export function contain(value: unknown, expected: unknown, at: string): void {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(value) && value.length === expected.length, `${at} is ${JSON.stringify(value)}`);
    for (const [index, one] of expected.entries()) contain(value[index], one, `${at}.${index}`);
  } else if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(value, expected, at);
  } else if ('$any' in expected) {
    assert.equal(typeof value, expected.$any, at);
  } else {
    for (const [name, one] of Object.entries(expected))
      contain((value as Variables | undefined)?.[name] ?? null, one, `${at}.${name}`);
  }
}

/** Puts variables and bytes into the arguments of a case. */
export function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => String(variables[name]));
  if (Array.isArray(value)) return value.map((one) => fill(one, variables));
  if (typeof value !== 'object' || value === null) return value;
  if ('$' in value) return variables[String(value.$)];
  if ('$bytes' in value) return new Uint8Array(Buffer.from(String(value.$bytes), 'base64'));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one, variables)]));
}

/** Runs the steps of a case of `calls.json`, which share variables. */
export async function runSteps(client: Postrider, steps: readonly Step[], given: Variables): Promise<void> {
  const variables = { ...ownVariables(), ...given };
  for (const step of steps) {
    const filled = fill(step, variables) as Step;
    const value = await runStep(client, filled);
    for (const [name, path] of Object.entries(step.save ?? {}))
      variables[name] = path.split('.').reduce<unknown>((one, key) => (one as Variables)?.[key], value);
  }
}

/** Variables that each case has for itself. */
function ownVariables(): Variables {
  const at = (days: number) => new Date(Math.floor(Date.now() / 1000 + days * 86_400) * 1000).toISOString();
  const run = Array.from({ length: 8 }, () => Math.floor(Math.random() * 36).toString(36)).join('');
  const hash = createHash('sha256').update('test').digest('hex');
  return { run, tomorrow: at(1), dayAfter: at(2), hash };
}

async function runStep(client: Postrider, step: Step): Promise<unknown> {
  const endsAt = Date.now() + UNTIL_MS;
  for (;;) {
    const actual = await attempt(() => callAndRead(client, step, step.options));
    try {
      check(step, actual);
      return actual.value;
    } catch (error) {
      if (step.until === undefined || Date.now() > endsAt) throw described(step.call, error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

function described(call: string, error: unknown): Error {
  const { message } = error as Error;
  return new Error(`${call}: ${message}`, { cause: error });
}

export async function attempt(work: () => unknown): Promise<{ value?: unknown; error?: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}
