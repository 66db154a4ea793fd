/**
 * Keeps the requests of a connection with TLS to the host for which it was opened. A request for another host is answered 421 (RFC 9110
 * section 15.5.20): the certificate of the connection has not proven that this server may answer for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { hostNameOf } from './host-names.ts';
import { refuseRequest } from './malformed.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Hosts of connections with TLS. Undefined: nothing is served under the name that the client asked for. */
const hosts = new WeakMap<Socket, string | undefined>();

/** Records the only host that the requests of a connection may name, in lower case; undefined when none may be named. */
export function keepToHost(socket: Socket, host: string | undefined): void {
  hosts.set(socket, host);
}

/** Returns a handler that hands on all requests but those of a connection that is kept to another host. */
export function refuseMisdirected(clock: Pick<Clock, 'now'>, handle: Handler): Handler {
  return (request, response) => {
    if (mayHandle(request)) return handle(request, response);
    const message = 'This connection does not serve the host of the request';
    refuseRequest(clock, response, { status: 421, type: 'not_found', message });
  };
}

function mayHandle({ socket, headers }: IncomingMessage): boolean {
  if (!hosts.has(socket)) return true;
  const served = hosts.get(socket);
  if (served === undefined) return false;
  // HTTP/1.0 needs no host, and then TLS names it. In HTTP/1.1 the app refuses a request without one as invalid.
  headers.host ??= served;
  return hostNameOf(headers.host) === served;
}
