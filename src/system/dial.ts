/**
 * Opens TCP connections to other hosts: directly, from a chosen address of this machine, or through a proxy. Every connection to a
 * mail server is opened here, so the guard against private targets cannot be bypassed. It judges the host, never the proxy.
 */
import { isIP, type Socket } from 'node:net';
import { RefusedTargetError, type TargetGuard } from './blocklist.ts';
import type { Clock } from './clock.ts';
import { openFrom } from './dial/open-from.ts';
import { openSocket } from './dial/open-socket.ts';
import type { DialSource } from './dial/source.ts';
import { EgressGate } from './egress.ts';

export type DialTarget = {
  /** IP literal. Names are resolved by the caller. */
  address: string;
  port: number;
  timeoutMs: number;
  /** The source of the connection; undefined leaves the choice to the system. */
  source?: DialSource | undefined;
  /** True for a host that the operator has named with the permission to be private, such as a relay of their own network. */
  mayBePrivate?: boolean;
  /** True for a connection that changes nothing elsewhere. It is made also while nothing may leave. */
  changesNothing?: true;
  /** Destroys the socket when it is aborted, while the connection is made or afterwards. */
  signal?: AbortSignal;
};

/**
 * Resolves with a connected socket. The socket already has an `error` listener: an error between the resolution and
 * the caller's own listener sets `socket.destroyed` and `socket.errored`, and is never uncaught.
 * @throws RefusedTargetError, HeldEgressError, SourceError, TimeoutError, or the error of the connection
 */
export type Dial = (target: DialTarget) => Promise<Socket>;

/** Returns a dialer that connects only to addresses that the guard allows, or that the operator has exempted by name. */
export function createDial(guard: TargetGuard, clock: Clock, egress = new EgressGate()): Dial {
  return async (target) => {
    const { address, port, timeoutMs, source, signal } = target;
    if (!target.changesNothing) egress.require();
    const isAllowed = target.mayBePrivate === true && isIP(address) !== 0;
    if (!isAllowed && guard.keepAllowed(address, [address]).length === 0) {
      // The error does not name the peer's address, because this text may reach the sender of the mail.
      throw new RefusedTargetError('the host');
    }
    const opening = { address, port, timeoutMs, signal };
    return source ? openFrom(clock, source, opening) : openSocket(clock, opening);
  };
}
