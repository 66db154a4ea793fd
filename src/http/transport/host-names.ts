/** Chooses among the apps of one server by the host name of a request (RFC 9110 section 7.2), and by its path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { nextSlice } from '../../system/slices.ts';

/** An app that is served for host names or paths of its own. It must not listen by itself. */
export type HostedApp = {
  app: FastifyInstance;
  /**
   * Returns true for its host names, which come in lower case, without a port and without a final dot, and for its paths, which come as
   * the client wrote them, without a query.
   */
  serves(hostName: string, path: string): boolean;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns the handler of a server; `standard` handles what no hosted app serves, with a limit per slice. */
export function byHostName(hosted: readonly HostedApp[], standard: Handler): Handler {
  // A server with one app pays nothing for the choice.
  if (hosted.length === 0) return standard;
  const limited = limitPerSlice(standard);
  return (request, response) => {
    const hostName = hostNameOf(request.headers.host ?? '');
    const [path = ''] = (request.url ?? '').split('?', 1);
    const found = hosted.find(({ serves }) => serves(hostName, path));
    if (found) found.app.routing(request, response);
    else limited(request, response);
  };
}

/** Returns the name in a Host header, in lower case, without its port and its final dot. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** Maximum number of requests that begin in one slice, a turn of the event loop, which then takes about 5 ms. */
export const MAX_BEGUN_PER_SLICE = 16;

/**
 * Returns a handler that calls `handle` for each request, in order, in this turn of the event loop or in a later one.
 * Requests to other apps of the server, timers and delivery thus wait a few milliseconds for a flood of requests, and not
 * for all of them. At most one request of each connection waits, so their number is bounded.
 */
export function limitPerSlice(handle: Handler): Handler {
  let waiting: Parameters<Handler>[] = [];
  let begun = 0;

  async function beginOthers(): Promise<void> {
    while (begun > 0) {
      await nextSlice();
      const next = waiting.slice(0, MAX_BEGUN_PER_SLICE);
      waiting = waiting.slice(MAX_BEGUN_PER_SLICE);
      begun = next.length;
      for (const [request, response] of next) handle(request, response);
    }
  }

  return (request, response) => {
    if (begun >= MAX_BEGUN_PER_SLICE) return void waiting.push([request, response]);
    begun += 1;
    if (begun === 1) void beginOthers();
    handle(request, response);
  };
}
