/** An agent in a test: the official client of MCP, whose requests reach the server of the API without a socket. */
import assert from 'node:assert/strict';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from '../support/test-app.ts';

export type ToolAnswer = {
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the answer.
  facts: any;
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

/** Connects an agent with a key. */
export async function connectAgent(
  world: Pick<TestApp, 'inject'>,
  key: string,
  { version = '2026-07-28', headers = {}, remoteAddress = '127.0.0.1' }: Origin = {},
): Promise<Agent> {
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost:8025/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
    async fetch(url, init = {}) {
      const response = await world.inject({
        method: (init.method ?? 'GET') as 'GET',
        url: new URL(url).pathname,
        headers: { host: 'localhost:8025', ...Object.fromEntries(new Headers(init.headers)) },
        ...(init.body !== undefined && init.body !== null && { payload: String(init.body) }),
        remoteAddress,
      });
      const body = [202, 204].includes(response.statusCode) ? null : response.body;
      return new Response(body, {
        status: response.statusCode,
        headers: Object.entries(response.headers).map(
          ([name, value]) => [name, String(value)] as [string, string],
        ),
      });
    },
  });
  const mode = version === 'legacy' ? ('legacy' as const) : { pin: version };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const call = async (name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> => {
    const result = (await client.callTool({ name, arguments: given })) as CallToolResult;
    const [first] = result.content;
    assert.ok(first?.type === 'text');
    if (!result.isError) driven.set(name, given);
    return { text: first.text, isError: result.isError === true, facts: result.structuredContent };
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
