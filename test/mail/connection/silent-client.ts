/** A socket whose client reads only when the test lets it. */
import { Duplex } from 'node:stream';

/** Returns the socket, what was written to it, and a function that lets the client read. */
export function createSilentClient() {
  const writes: string[] = [];
  let taken = () => {};
  const take = (bytes: string, done: () => void): void => {
    writes.push(bytes);
    taken = done;
  };
  const socket = new Duplex({
    highWaterMark: 1_024,
    decodeStrings: false,
    read() {},
    write: (chunk, _encoding, done) => take(String(chunk), done),
    writev: (chunks, done) => take(chunks.map(({ chunk }) => String(chunk)).join(''), done),
  });
  return { socket, writes, take: () => taken() };
}
