/** Chooses among the apps of one server by the host name of a request (RFC 9110 section 7.2), and by its path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { limitPerTurn } from './turns.ts';

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

/** Returns the handler of a server; `standard` handles what no hosted app serves, with a limit per turn (turns.ts). */
export function byHostName(hosted: readonly HostedApp[], standard: Handler): Handler {
  // A server with one app pays nothing for the choice.
  if (hosted.length === 0) return standard;
  const limited = limitPerTurn(standard);
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
