/**
 * Connects the CLI to the admin API. A running daemon answers on its control socket. When none is running, the same
 * routes are served inside this process, on the database itself and under its lock. Commands cannot tell the
 * difference.
 */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Client } from 'undici';
import { openApp } from '../app.ts';
import type { Config } from '../config/config.ts';
import { answers, controlSocketPath, createControlServer } from '../control-socket.ts';
import { readJsonLines } from '../http/json/json-lines.ts';
import { errorMessage } from '../system/errors.ts';
import { OPERATOR_USER_HEADER } from '../system/operator-user.ts';
import { CommandError } from './errors.ts';
import { operatorUser } from './operator-user.ts';
import { processEnvironment } from './terminal.ts';

/** Says in each request who runs this command. */
const asUser = { [OPERATOR_USER_HEADER]: encodeURIComponent(operatorUser(processEnvironment())) };

export type ControlMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type ControlClient = {
  /** True when a running daemon answers, and false when this process has opened the database itself. */
  readonly isDaemon: boolean;
  /**
   * Sends a request and returns the body of the response.
   * @throws CommandError when the daemon refuses
   */
  request<Answer>(method: ControlMethod, path: string, body?: object): Promise<Answer>;
  /**
   * Starts work that may take many minutes, such as a repair, and returns the body of the response whenever it comes.
   * @throws CommandError when the daemon refuses
   */
  startWork<Answer>(path: string): Promise<Answer>;
  /**
   * Sends bytes of a media type, and returns the body of the response.
   * @throws CommandError when the daemon refuses
   */
  upload<Answer>(
    path: string,
    body: { type: string; bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array> },
  ): Promise<Answer>;
  /**
   * Yields the bytes at a path.
   * @throws CommandError when the daemon refuses
   */
  download(path: string): AsyncIterable<Uint8Array>;
  /**
   * Yields the lines of JSON of an answer as they come. It ends early, without an error, when `signal` is aborted.
   * @throws CommandError when the daemon refuses
   */
  stream<Line>(
    method: ControlMethod,
    path: string,
    options: { body?: object; signal: AbortSignal },
  ): AsyncIterable<Line>;
  close(): Promise<void>;
};

/**
 * Maximum time of a response. Responses come from this machine and are small, so a longer time means that the daemon
 * hangs.
 */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Opens the admin API.
 * @throws LockedError when a daemon holds the data directory but does not answer on its socket
 */
export async function openControl(
  config: Config,
  answerTimeoutMs: number = ANSWER_TIMEOUT_MS,
): Promise<ControlClient> {
  return (await connectToDaemon(config.dataDir, answerTimeoutMs)) ?? (await openDatabaseItself(config));
}

/** Connects to a running daemon. Returns undefined when none answers. */
export async function connectToDaemon(
  dataDir: string,
  answerTimeoutMs: number = ANSWER_TIMEOUT_MS,
): Promise<ControlClient | undefined> {
  const socket = findSocket(dataDir);
  if (!socket) return undefined;
  if (!(await answers(socket.path))) {
    socket.release();
    return undefined;
  }
  const client = new Client('http://localhost', {
    socketPath: socket.path,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  });
  const send = async (method: ControlMethod, path: string, sent?: Sent) => {
    try {
      const { type, body = null, headersTimeout = answerTimeoutMs, signal = null } = sent ?? {};
      const headers = { ...asUser, ...(type !== undefined && { 'content-type': type }) };
      return await client.request({ method, path, headers, body, headersTimeout, signal });
    } catch (error) {
      throw explainSilence(error, dataDir);
    }
  };
  const ask = (method: ControlMethod, path: string, body?: object) =>
    send(method, path, body && { type: 'application/json', body: JSON.stringify(body) });
  const read = async <Answer>({ statusCode, body }: Awaited<ReturnType<typeof ask>>) => {
    try {
      return readAnswer<Answer>(statusCode, await body.text());
    } catch (error) {
      throw explainSilence(error, dataDir);
    }
  };
  return {
    isDaemon: true,
    async request<Answer>(method: ControlMethod, path: string, body?: object) {
      return read<Answer>(await ask(method, path, body));
    },
    async startWork<Answer>(path: string) {
      const unlimited = { type: 'application/json', body: '{}', headersTimeout: 0 };
      return read<Answer>(await send('POST', path, unlimited));
    },
    async upload<Answer>(
      path: string,
      { type, bytes }: { type: string; bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array> },
    ) {
      return read<Answer>(await send('POST', path, { type, body: Readable.from(bytes) }));
    },
    async *download(path) {
      const { statusCode, body } = await ask('GET', path);
      if (statusCode >= 400) readAnswer(statusCode, await body.text());
      yield* body;
    },
    async *stream<Line>(
      method: ControlMethod,
      path: string,
      { body: sent, signal }: { body?: object; signal: AbortSignal },
    ) {
      const json = sent && { type: 'application/json', body: JSON.stringify(sent) };
      try {
        const { statusCode, body } = await send(method, path, { ...json, signal });
        if (statusCode >= 400) readAnswer(statusCode, await body.text());
        yield* readJsonLines<Line>(body);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    async close() {
      await client.close();
      socket.release();
    },
  };
}

type Sent = {
  type?: string;
  body?: string | Readable;
  headersTimeout?: number;
  signal?: AbortSignal;
};

/** Returns what the operator can do about a socket that does not answer as a daemon does. */
function explainSilence(error: unknown, dataDir: string): unknown {
  if (error instanceof CommandError || isConnectFailure(error)) return error;
  return new CommandError(
    `${join(dataDir, 'control.sock')} does not answer as a daemon does (${errorMessage(error)}): is another program using it? "ss -lxp" shows which`,
    { cause: error },
  );
}

/**
 * Returns true when the socket could not be opened at all, for example for lack of permission. The error then describes
 * the data directory.
 */
function isConnectFailure(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

/** Returns the path of the socket; undefined when the data directory does not exist. */
function findSocket(dataDir: string): ReturnType<typeof controlSocketPath> | undefined {
  try {
    return controlSocketPath(dataDir);
  } catch {
    return undefined;
  }
}

/**
 * Serves the admin API inside this process. Logs go to standard error, because standard output is for the command's
 * result.
 */
async function openDatabaseItself(config: Config): Promise<ControlClient> {
  const log = pino({ level: 'error', base: null }, pino.destination({ fd: 2, sync: true }));
  const app = await openApp(config, { log });
  const server: FastifyInstance = await createControlServer(app);
  return {
    isDaemon: false,
    async request<Answer>(method: ControlMethod, path: string, body?: object) {
      const response = await server.inject({
        method,
        url: path,
        headers: asUser,
        ...(body !== undefined && { payload: body }),
      });
      return readAnswer<Answer>(response.statusCode, response.body);
    },
    async startWork<Answer>(path: string) {
      const response = await server.inject({ method: 'POST', url: path, headers: asUser });
      return readAnswer<Answer>(response.statusCode, response.body);
    },
    async upload<Answer>(
      path: string,
      { type, bytes }: { type: string; bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array> },
    ) {
      const payload = Readable.from(bytes);
      const headers = { ...asUser, 'content-type': type };
      const response = await server.inject({ method: 'POST', url: path, headers, payload });
      return readAnswer<Answer>(response.statusCode, response.body);
    },
    async *download(path) {
      const response = await server.inject({ method: 'GET', url: path, payloadAsStream: true });
      if (response.statusCode >= 400) readAnswer(response.statusCode, await text(response.stream()));
      yield* response.stream();
    },
    async *stream<Line>(method: ControlMethod, path: string, { body }: { body?: object }) {
      const payload = body !== undefined && { payload: body };
      const response = await server.inject({
        method,
        url: path,
        headers: asUser,
        ...payload,
        payloadAsStream: true,
      });
      if (response.statusCode >= 400) readAnswer(response.statusCode, await text(response.stream()));
      yield* readJsonLines<Line>(response.stream());
    },
    async close() {
      await server.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns the body of a response. The admin API's `show…` functions define its type, which the commands pass as
 * `Answer`.
 * @throws CommandError with the message of a refusal
 */
function readAnswer<Answer>(status: number, answer: string): Answer {
  const body: unknown = JSON.parse(answer);
  if (status < 400) return body as Answer;
  throw new CommandError(refusalMessage(body) ?? `the daemon answered ${status}`);
}

function refusalMessage(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined;
  return String(error.message);
}
