/** Opens TCP connections to IP addresses. The one place sockets to peers are born, so the guard cannot be forgotten. */
import { connect, type Socket } from 'node:net';
import type { TargetGuard } from './blocklist.ts';
import { type Clock, TimeoutError } from './clock.ts';

export type DialTarget = {
  /** An IP literal; names are resolved above. */
  address: string;
  port: number;
  timeoutMs: number;
};

/** The socket has an `error` listener already: what happens between this promise and the caller's own listener shows in
 * `socket.destroyed` and `socket.errored`, and is never uncaught. */
export type Dial = (target: DialTarget) => Promise<Socket>;

export class RefusedTargetError extends Error {
  override readonly name = 'RefusedTargetError';
}

export function createDial(guard: TargetGuard, clock: Clock): Dial {
  return (target) =>
    new Promise((resolve, reject) => {
      if (!guard.allows(target.address)) {
        reject(new RefusedTargetError(`${target.address} is not a public address`));
        return;
      }
      const socket = connect({ host: target.address, port: target.port, noDelay: true });
      const timer = clock.after(target.timeoutMs, () =>
        socket.destroy(new TimeoutError(`connect took longer than ${target.timeoutMs} ms`)),
      );
      // After the connect a rejection means nothing any more; the listener stays.
      socket.on('error', (error) => {
        timer.cancel();
        reject(error);
      });
      socket.once('connect', () => {
        timer.cancel();
        resolve(socket);
      });
    });
}
