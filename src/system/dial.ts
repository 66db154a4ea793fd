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
      const failed = (error: Error) => {
        timer.cancel();
        reject(error);
      };
      socket.once('error', failed);
      socket.once('connect', () => {
        timer.cancel();
        socket.off('error', failed);
        resolve(socket);
      });
    });
}
