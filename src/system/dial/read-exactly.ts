/** Reads the first octets of a socket, and leaves all others in it for the next reader. */
import type { Socket } from 'node:net';

/** @throws the error of the socket, or an Error when it ends before */
export function readExactly(socket: Socket, octets: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      socket.off('readable', tryToRead).off('close', closed).off('end', closed);
    };
    function closed(): void {
      stop();
      reject(socket.errored ?? new Error('the connection was closed'));
    }
    function tryToRead(): void {
      // A stream that has ended returns fewer octets.
      const read: Buffer | null = socket.read(octets);
      if (read === null) return;
      stop();
      if (read.length === octets) resolve(read);
      else closed();
    }
    socket.on('readable', tryToRead).on('close', closed).on('end', closed);
    if (socket.destroyed || socket.readableEnded) closed();
    else tryToRead();
  });
}
