/** Answers datagrams on a UDP port, each with at most one datagram to its sender. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { ListenError } from './listen.ts';

type UdpOptions = {
  /** Section of the configuration that the address and the port come from. */
  section: string;
  at: { address: string; port: number };
  /** Returns the answer to a datagram of this address; undefined sends none. The answer is not changed afterwards. */
  answer(message: Buffer, address: string): Uint8Array | undefined;
};

type UdpListener = { close(): Promise<void> };

/**
 * Maximum size of the answers that wait for the kernel, in bytes. More are dropped, as a network would do, because senders that do not
 * exist decide how many there are.
 */
const MAX_QUEUED_BYTES = 1_048_576;

/**
 * Starts to answer.
 * @throws ListenError
 */
export async function listenUdp({ section, at, answer }: UdpOptions): Promise<UdpListener> {
  const socket = createSocket({
    type: isIPv6(at.address) ? 'udp6' : 'udp4',
    // The addresses of senders are literals, which need no lookup in the pool of threads.
    lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
  });
  await bind(socket, at).catch((error: Error) => {
    throw new ListenError({ section, at }, error);
  });
  // The kernel reports answers that could not be delivered here; whoever asked asks again.
  socket.on('error', () => {});
  socket.on('message', (message, { address, port }) => {
    const bytes = answer(message, address);
    if (bytes && port !== 0 && socket.getSendQueueSize() < MAX_QUEUED_BYTES)
      socket.send(bytes, port, address);
  });
  return { close: () => new Promise((resolve) => void socket.close(() => resolve())) };
}

function bind(socket: Socket, at: UdpOptions['at']): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(at.port, at.address, () => {
      socket.off('error', reject);
      resolve();
    });
  });
}
