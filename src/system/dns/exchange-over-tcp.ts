/** Sends one message to a DNS server over TCP, and returns its response as it came (RFC 7766). */
import { connect } from 'node:net';
import { type Clock, TimeoutError } from '../clock.ts';
import { readConfigured } from './servers.ts';

type TcpExchange = {
  /** Address of the server, such as `192.0.2.53`, `192.0.2.53:5353` or `[2001:db8::53]:53`. */
  server: string;
  message: Buffer;
  timeoutMs: number;
};

/** Size of the length before each message (RFC 1035 section 4.2.2). */
const LENGTH_BYTES = 2;

/**
 * Resolves with the first message that the server sends.
 * @throws TimeoutError, or the error of the connection
 */
export function exchangeOverTcp(
  clock: Pick<Clock, 'after'>,
  { server, message, timeoutMs }: TcpExchange,
): Promise<Buffer> {
  const { address, port } = readConfigured(server);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true });
    const timer = clock.after(timeoutMs, () =>
      socket.destroy(new TimeoutError(`the DNS server took longer than ${timeoutMs} ms`)),
    );
    let held = Buffer.alloc(0);
    socket.once('connect', () => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(message.length);
      socket.write(Buffer.concat([length, message]));
    });
    socket.on('data', (bytes) => {
      held = Buffer.concat([held, bytes]);
      if (held.length < LENGTH_BYTES) return;
      const end = LENGTH_BYTES + held.readUInt16BE(0);
      if (held.length < end) return;
      resolve(held.subarray(LENGTH_BYTES, end));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.once('close', () => {
      timer.cancel();
      // It has no effect after the response.
      reject(new Error('the DNS server has closed the connection'));
    });
  });
}
