/**
 * Hands messages of MCP on to `/mcp` of a daemon, and its answers back, one JSON value each. It knows no tool: the daemon serves them, whatever
 * its version.
 */
import { request } from 'undici';
import { errorMessage } from '../system/errors.ts';

/** Maximum time of an answer in milliseconds: that of a call and a margin. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Maximum size of an answer. The list of the tools is the largest. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Codes of JSON-RPC 2.0 section 5.1, and one of those that are left to servers. */
const CODES = { parseError: -32700, invalidRequest: -32600, serverError: -32000 } as const;

type Id = string | number;
type Message = {
  id?: Id;
  method?: string;
  params?: { name?: unknown; requestId?: Id; _meta?: Readonly<Record<string, unknown>> };
};

type Forwarder = {
  /** Hands a line of standard input on. It resolves when the answer is written, if there is one, and never rejects. */
  take(line: string): Promise<void>;
};

type ForwarderOptions = {
  /** Address of the endpoint, such as `https://mail.example.com/mcp`. */
  endpoint: URL;
  key: string;
  /** Writes one message. */
  write(message: string): void;
  /** Says what a person should know, beside the messages. */
  complain(text: string): void;
};

/** Creates a forwarder. It keeps no state but the revision of the protocol that a program of 2025 has agreed on. */
export function createForwarder({ endpoint, key, write, complain }: ForwarderOptions): Forwarder {
  const running = new Map<Id, AbortController>();
  let agreedVersion: string | undefined;

  function fail(id: Id | null, code: number, message: string): void {
    if (id === null) complain(message);
    write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }

  async function post(line: string, message: Message, signal: AbortSignal): Promise<string[]> {
    const { statusCode, headers, body } = await request(endpoint, {
      method: 'POST',
      headers: {
        ...headersOf(message, agreedVersion),
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: line,
      signal,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    let text = '';
    for await (const piece of body.setEncoding('utf8')) {
      text += piece;
      if (text.length > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
    }
    const isStream = String(headers['content-type']).startsWith('text/event-stream');
    const messages = isStream ? eventsOf(text) : text === '' ? [] : [text];
    const isAnswered = messages.length > 0 && messages.every(isRpc);
    if (statusCode < 300 || isAnswered) return messages;
    throw new Error(`the server has answered ${statusCode}: ${problemOf(text)}`);
  }

  async function ask(line: string, message: Message): Promise<void> {
    const { id } = message;
    const stop = new AbortController();
    if (id !== undefined) running.set(id, stop);
    try {
      for (const answer of await post(line, message, stop.signal)) {
        if (message.method === 'initialize') agreedVersion = versionOf(answer) ?? agreedVersion;
        // A message is one line.
        write(JSON.stringify(JSON.parse(answer)));
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      if (id === undefined) complain(errorMessage(error));
      else fail(id, CODES.serverError, `No answer from ${endpoint.origin}: ${errorMessage(error)}`);
    } finally {
      if (id !== undefined) running.delete(id);
    }
  }

  return {
    async take(line) {
      if (line.trim() === '') return;
      const message = parse(line);
      if (message === undefined) return fail(null, CODES.parseError, 'The line is not JSON');
      if (typeof message !== 'object' || message === null || Array.isArray(message))
        return fail(null, CODES.invalidRequest, 'The line is not one message');
      const { method, params } = message as Message;
      // Over HTTP a request is canceled by its connection.
      if (method === 'notifications/cancelled') {
        if (params?.requestId !== undefined) running.get(params.requestId)?.abort();
        return;
      }
      await ask(line, message as Message);
    },
  };
}

/** Field of a message with the revision of the protocol, since that of 2026-07-28. */
const VERSION_FIELD = 'io.modelcontextprotocol/protocolVersion';

/** Returns the headers that repeat fields of a message (specification 2026-07-28, Streamable HTTP, Request Metadata). */
function headersOf({ method, params }: Message, agreedVersion: string | undefined): Record<string, string> {
  const version = params?._meta?.[VERSION_FIELD];
  if (typeof version !== 'string' || method === undefined) {
    return agreedVersion === undefined ? {} : { 'mcp-protocol-version': agreedVersion };
  }
  const name = typeof params?.name === 'string' ? { 'mcp-name': headerValue(params.name) } : {};
  return { 'mcp-protocol-version': version, 'mcp-method': headerValue(method), ...name };
}

/** Returns a text as the value of a header, in Base64 when it may not stand there as it is. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Returns the data of the events of a stream. */
function eventsOf(stream: string): string[] {
  return stream.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
    const text = data.join('\n');
    return text === '' ? [] : [text];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRpc(text: string): boolean {
  const message = parse(text) as { jsonrpc?: unknown } | null | undefined;
  return message?.jsonrpc === '2.0';
}

function versionOf(answer: string): string | undefined {
  const { result } = (parse(answer) ?? {}) as { result?: { protocolVersion?: string } };
  return result?.protocolVersion;
}

/** Maximum length of what is repeated of an answer that is no message, such as the page of a proxy. */
const MAX_PROBLEM_CHARACTERS = 300;

function problemOf(text: string): string {
  const { error } = (parse(text) ?? {}) as { error?: { message?: string } };
  return (error?.message ?? text).slice(0, MAX_PROBLEM_CHARACTERS);
}
