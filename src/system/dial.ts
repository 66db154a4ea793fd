/** Opens TCP connections to IP addresses. The one place sockets to peers are born, so the guard cannot be forgotten. */
import { connect, type Socket } from 'node:net';
import { RefusedTargetError, type TargetGuard } from './blocklist.ts';
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

export function createDial(guard: TargetGuard, clock: Clock): Dial {
  return (target) =>
    new Promise((resolve, reject) => {
      if (guard.keepAllowed(target.address, [target.address]).length === 0) {
        // The error does not name the peer's address, because this text may reach the sender of the mail.
        reject(new RefusedTargetError('the host'));
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
