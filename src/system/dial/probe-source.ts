/** Finds out whether connections can leave from a source, without a connection to any host. */
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { type Clock, TimeoutError } from '../clock.ts';
import { openProxy } from './open-from.ts';
import { agreeOnMethod } from './socks.ts';
import type { DialSource } from './source.ts';
import { SourceError } from './source-failure.ts';

/** @throws SourceError when no connection can leave from the source */
export async function probeSource(clock: Clock, source: DialSource, timeoutMs: number): Promise<void> {
  if (source.kind === 'address') return bindAddress(source.address);
  const socket = await openProxy(clock, source.proxy, { timeoutMs });
  const timer = clock.after(timeoutMs, () =>
    socket.destroy(new TimeoutError(`it took longer than ${timeoutMs} ms`)),
  );
  try {
    if (source.kind === 'socks5') await agreeOnMethod(socket, source.login);
  } finally {
    timer.cancel();
    socket.destroy();
  }
}

/** Nothing is sent: a datagram socket that is bound tells whether this machine has the address. */
function bindAddress(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv4(address) ? 'udp4' : 'udp6');
    socket.once('error', (error) => {
      socket.close();
      reject(new SourceError('unusable', 'this machine does not have the address of the source', error));
    });
    socket.bind({ address, port: 0, exclusive: true }, () => {
      socket.close();
      resolve();
    });
  });
}
