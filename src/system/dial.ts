/**
 * Opens TCP connections to IP addresses. Every connection to a mail server is opened here, so the guard cannot be
 * bypassed.
 */
import { connect, type Socket } from 'node:net';
import { RefusedTargetError, type TargetGuard } from './blocklist.ts';
import { type Clock, TimeoutError } from './clock.ts';

export type DialTarget = {
  /** IP literal. Names are resolved by the caller. */
  address: string;
  port: number;
  timeoutMs: number;
};

/**
 * Resolves with a connected socket. The socket already has an `error` listener: an error between the resolution and
 * the caller's own listener sets `socket.destroyed` and `socket.errored`, and is never uncaught.
 * @throws RefusedTargetError, TimeoutError, or the error of the connection
 */
export type Dial = (target: DialTarget) => Promise<Socket>;

/** Returns a dialer that connects only to addresses that the guard allows. */
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
      // After the connection is open, the rejection has no effect, but the listener stays.
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
