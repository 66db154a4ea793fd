/**
 * Requests to the server of a store. An error of the connection becomes a StoreError with a sentence for the operator, and every answer has a
 * bound. The stores evaluate the status.
 */
import { RefusedTargetError } from '../system/blocklist.ts';
import { TimeoutError } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { UnresolvedHostError } from '../system/fetch/connection.ts';
import { WrongPinError } from '../system/fetch/pin.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { type ClientAnswer, createHttpClient, type HttpClient } from '../system/http-client.ts';
import type { System } from '../system/system.ts';
import { isCertificateError } from '../system/tls.ts';
import { MAX_OBJECT_BYTES, StoreError } from './object-store.ts';

export type ServerRequest = Parameters<HttpClient['send']>[0];

/** An answer whose body is small and has arrived whole. */
export type SmallAnswer = Pick<ClientAnswer, 'status' | 'headers'> & { text: string };

export type ServerRequests = {
  /**
   * Makes a request whose answer has at most `maxBytes`, by default 64 KiB.
   * @throws StoreError
   */
  ask(request: ServerRequest, maxBytes?: number): Promise<SmallAnswer>;
  /**
   * Makes a request for an object. An answer with status 200 is returned before its body has arrived; any other is a small answer.
   * @throws StoreError
   */
  fetchObject(request: ServerRequest): Promise<AsyncIterable<Uint8Array> | SmallAnswer>;
  close(): Promise<void>;
};

export type ServerOptions = {
  /** Maximum time without progress in a request, in milliseconds; 30 seconds by default. */
  idleMs?: number;
  pin?: string | undefined;
  /** Certificates in PEM that replace the ones that Node trusts. */
  certificateAuthorities?: string | undefined;
};

const IDLE_MS = 30_000;
const MAX_SMALL_BYTES = 64 * 1024;

/** Returns requests to the server of this URL, with a pool of connections of their own. */
export function createServerRequests(
  system: Pick<System, 'clock' | 'dns'>,
  server: URL,
  { idleMs = IDLE_MS, ...options }: ServerOptions,
): ServerRequests {
  const client = createHttpClient(system, { idleMs, ...options });
  const translate = (error: unknown) => toStoreError(error, server, idleMs);
  const tooLarge = (maxBytes: number) =>
    new StoreError('refused', `${server.host} sent an answer of more than ${maxBytes} bytes`);

  async function send(request: ServerRequest): Promise<ClientAnswer> {
    try {
      return await client.send(request);
    } catch (error) {
      throw translate(error);
    }
  }

  async function* bounded(answer: ClientAnswer, maxBytes: number): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const part of answer.body) {
        bytes += part.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        yield part;
      }
    } catch (error) {
      throw translate(error);
    }
  }

  async function readSmall(answer: ClientAnswer, maxBytes = MAX_SMALL_BYTES): Promise<SmallAnswer> {
    const parts: Uint8Array[] = [];
    for await (const part of bounded(answer, maxBytes)) parts.push(part);
    return { status: answer.status, headers: answer.headers, text: Buffer.concat(parts).toString() };
  }

  return {
    ask: async (request, maxBytes) => await readSmall(await send(request), maxBytes),
    async fetchObject(request) {
      const answer = await send(request);
      if (answer.status !== 200) return await readSmall(answer);
      if (Number(answer.headers['content-length'] ?? 0) <= MAX_OBJECT_BYTES)
        return bounded(answer, MAX_OBJECT_BYTES);
      answer.discard();
      throw tooLarge(MAX_OBJECT_BYTES);
    },
    close: () => client.close(),
  };
}

/** An error of the caller's own file is returned as it is: it says nothing about the store. */
function toStoreError(error: unknown, { host, hostname, port, protocol }: URL, idleMs: number): unknown {
  if (error instanceof StoreError || isOfFile(error)) return error;
  const unreachable = (text: string) => new StoreError('unreachable', text, { cause: error });
  if (error instanceof WrongPinError) return new StoreError('refused', error.message, { cause: error });
  if (isCertificateError(error))
    return new StoreError(
      'refused',
      `the certificate of ${host} is not trusted (${errorCode(error)}): pin its key, or trust its authority with NODE_EXTRA_CA_CERTS`,
      { cause: error },
    );
  if (error instanceof TimeoutError)
    return unreachable(`${host} did not go on within ${idleMs / 1_000} seconds`);
  if (error instanceof RefusedTargetError) return unreachable(`the name ${hostname} has no address in DNS`);
  if (error instanceof UnresolvedHostError) return unreachable(error.message);
  switch (errorCode(error)) {
    case 'ECONNREFUSED':
      return unreachable(
        `no program listens on port ${port || (protocol === 'https:' ? 443 : 80)} of ${hostname}`,
      );
    case 'UND_ERR_CONNECT_TIMEOUT':
      return unreachable(`${host} cannot be connected to: it does not answer`);
    default:
      return unreachable(`the connection to ${host} failed: ${cleanForeignText(errorMessage(error))}`);
  }
}

/** Errors of the file system name the call that failed, and its path. */
function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'path' in error && 'syscall' in error;
}
