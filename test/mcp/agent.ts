/** An agent in a test: the official client of MCP. */
import assert from 'node:assert/strict';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from '../support/test-app.ts';

export type ToolAnswer = {
  text: string;
  isError: boolean;
  facts: Record<'id' | 'idempotencyKey' | 'approvalId' | 'waitsForApprovalUntil', string> &
    Record<string, unknown>;
};

export type Agent = AsyncDisposable & {
  client: Client;
  /** Calls a tool. */
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
  /** Calls a tool, which does not refuse. */
  use(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
};

/** Tools that an agent of this process has called with success, with their last arguments. */
export const driven = new Map<string, Record<string, unknown>>();

type Origin = { version?: '2026-07-28' | 'legacy'; headers?: Record<string, string>; remoteAddress?: string };

/** Returns a `fetch` whose requests reach a server without a socket. */
function fetchIn({ inject }: Pick<TestApp, 'inject'>, remoteAddress: string): typeof fetch {
  return async (url, init = {}) => {
    const response = await inject({
      method: (init.method ?? 'GET') as 'GET',
      url: new URL(String(url)).pathname,
      headers: { host: 'localhost:8025', ...Object.fromEntries(new Headers(init.headers)) },
      ...(init.body !== undefined && init.body !== null && { payload: String(init.body) }),
      remoteAddress,
    });
    const body = [202, 204].includes(response.statusCode) ? null : response.body;
    return new Response(body, {
      status: response.statusCode,
      headers: Object.entries(response.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
    });
  };
}

/** Connects an agent with a key, to a server in this process or to a daemon. */
export async function connectAgent(
  world: Pick<TestApp, 'inject'> | { address: string },
  key: string,
  { version = '2026-07-28', headers = {}, remoteAddress = '127.0.0.1' }: Origin = {},
): Promise<Agent> {
  const isInProcess = 'inject' in world;
  const url = new URL('/mcp', isInProcess ? 'http://localhost:8025' : world.address);
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
    ...(isInProcess && { fetch: fetchIn(world, remoteAddress) }),
  });
  const mode = version === 'legacy' ? ('legacy' as const) : { pin: version };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const call = async (name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> => {
    const result = (await client.callTool({ name, arguments: given })) as CallToolResult;
    const [first] = result.content;
    assert.ok(first?.type === 'text');
    if (!result.isError) driven.set(name, given);
    return {
      text: first.text,
      isError: result.isError === true,
      facts: result.structuredContent as ToolAnswer['facts'],
    };
  };
  return {
    client,
    call,
    async use(name, given) {
      const answer = await call(name, given);
      assert.equal(answer.isError, false, answer.text);
      return answer;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
