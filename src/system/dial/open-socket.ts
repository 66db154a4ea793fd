/** Opens one TCP connection to an IP literal, without judging it. */
import { connect, type Socket } from 'node:net';
import { type Clock, TimeoutError } from '../clock.ts';

export type Opening = {
  address: string;
  port: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Address of this machine from which the connection is made. */
  localAddress?: string;
};

/** @throws the reason of the signal, TimeoutError, or the error of the connection */
export function openSocket(
  clock: Clock,
  { address, port, timeoutMs, signal, localAddress }: Opening,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connect({
      host: address,
      port,
      noDelay: true,
      ...(signal && { signal }),
      ...(localAddress !== undefined && { localAddress }),
    });
    const timer = clock.after(timeoutMs, () =>
      socket.destroy(new TimeoutError(`connect took longer than ${timeoutMs} ms`)),
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
