/**
 * Requests that one part of this process makes to the server of another, without a socket. They pass everything that a request of the
 * network passes behind the connection: hooks, schemas, handlers, refusals. A property of the raw request can say who makes it, which
 * nothing that arrives over a network has.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import inject from 'light-my-request';

type InProcessRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its query. */
  url: string;
  headers?: Record<string, string>;
  payload?: string | Buffer;
  /** IP address that the request counts to, which is that of the client of the caller. */
  clientAddress: string;
  /** Marks the raw request before the server sees it. */
  mark?: (raw: IncomingMessage) => void;
};

type InProcessResponse = { status: number; headers: OutgoingHttpHeaders; body: Buffer };

/** Name in the Host header, which every request needs. No server chooses by it. */
const HOST = 'in-process.invalid';

/** Makes a request, and returns its response while it is written. The answering server stops when nobody reads the body any more. */
export async function streamInProcess(
  server: FastifyInstance,
  { method, url, headers = {}, clientAddress, mark }: Omit<InProcessRequest, 'payload'>,
): Promise<Omit<InProcessResponse, 'body'> & { body: Readable }> {
  await server.ready();
  let stop = () => {};
  const response = await inject(
    (request, reply) => {
      const raw = request as unknown as IncomingMessage;
      mark?.(raw);
      stop = () => void reply.destroy();
      server.routing(raw, reply as never);
    },
    { method, url, headers: { ...headers, host: HOST }, remoteAddress: clientAddress, payloadAsStream: true },
  );
  const body = response.stream();
  body.once('close', stop);
  return { status: response.statusCode, headers: response.headers, body };
}

/** Makes a request, and returns the whole response. */
export async function requestInProcess(
  server: FastifyInstance,
  { method, url, headers = {}, payload, clientAddress, mark }: InProcessRequest,
): Promise<InProcessResponse> {
  await server.ready();
  const response = await inject(
    (request, reply) => {
      const raw = request as unknown as IncomingMessage;
      mark?.(raw);
      server.routing(raw, reply as never);
    },
    {
      method,
      url,
      headers: { ...headers, host: HOST },
      remoteAddress: clientAddress,
      ...(payload !== undefined && { payload }),
    },
  );
  return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
}
