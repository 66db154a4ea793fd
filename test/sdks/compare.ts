/** Compares the requests that arrived with those that a case expects, and says in sentences what differs. */
import { isDeepStrictEqual } from 'node:util';
import type { ExpectedHeader, ExpectedRequest, SeenRequest } from './cases.ts';

/** Timers of programs may fire so much early, in milliseconds. */
const TIMER_MS = 5;

export function compareRequests(
  expected: readonly ExpectedRequest[],
  seen: readonly SeenRequest[],
): string[] {
  const problems = expected.flatMap((one, index) => {
    const request = seen[index];
    if (!request) return [`Request ${index} did not arrive.`];
    return compare(one, { request, index, seen }).map((problem) => `Request ${index}: ${problem}`);
  });
  if (seen.length > expected.length)
    problems.push(`${seen.length} requests arrived, and ${expected.length} were expected.`);
  return problems;
}

type Arrived = { request: SeenRequest; index: number; seen: readonly SeenRequest[] };

function compare(expected: ExpectedRequest, arrived: Arrived): string[] {
  const { request } = arrived;
  const problems: string[] = [];
  const differ = (what: string, want: unknown, got: unknown) => {
    if (!isDeepStrictEqual(want, got))
      problems.push(`its ${what} is ${JSON.stringify(got)}, and ${JSON.stringify(want)} was expected.`);
  };
  if (expected.method !== undefined) differ('method', expected.method, request.method);
  if (expected.path !== undefined) differ('path', expected.path, request.path);
  if (expected.query !== undefined) differ('query', expected.query, { ...request.query });
  for (const [name, header] of Object.entries(expected.headers ?? {}))
    problems.push(...compareHeader(name, header, arrived));
  if (typeof expected.body === 'string') differ('body', expected.body, request.body);
  else if (expected.body !== undefined) problems.push(...compareJson(expected.body, request.body));
  problems.push(...compareConnection(expected, arrived));
  return problems;
}

function compareHeader(name: string, expected: ExpectedHeader, { request, seen }: Arrived): string[] {
  const got = request.headers[name.toLowerCase()];
  const isRight =
    expected === null
      ? got === undefined
      : typeof expected === 'string'
        ? got === expected
        : '$same' in expected
          ? got !== undefined && got === seen[expected.$same]?.headers[name.toLowerCase()]
          : got !== undefined && got !== '';
  return isRight
    ? []
    : [`its header ${name} is ${JSON.stringify(got)}, which is not ${JSON.stringify(expected)}.`];
}

function compareJson(expected: unknown, body: string): string[] {
  try {
    const got: unknown = JSON.parse(body);
    return contains(got, expected)
      ? []
      : [`its body ${body.slice(0, 300)} lacks ${JSON.stringify(expected)}.`];
  } catch {
    return [`its body ${body.slice(0, 300)} is not JSON.`];
  }
}

/** Returns true when the value has everything that is expected: objects may have more fields. */
function contains(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((item, index) => contains(value[index], item))
    );
  if (expected === null || typeof expected !== 'object') return value === expected;
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(expected).every(([name, item]) =>
    contains((value as Record<string, unknown>)[name], item),
  );
}

function compareConnection(expected: ExpectedRequest, { request, index, seen }: Arrived): string[] {
  const before = seen[index - 1];
  if (!before) return [];
  const problems: string[] = [];
  const waitedMs = request.at - before.at;
  if (expected.minWaitMs !== undefined && waitedMs < expected.minWaitMs - TIMER_MS)
    problems.push(`it came ${Math.round(waitedMs)} ms after the one before, and not ${expected.minWaitMs}.`);
  const isSame = request.connection === before.connection;
  if (expected.connection !== undefined && isSame !== (expected.connection === 'same'))
    problems.push(`its connection is ${isSame ? 'the one before' : 'a new one'}.`);
  return problems;
}
