/** Drops what a client sends after the last word of the server. */
import type { Duplex } from 'node:stream';

/**
 * Number of octets that are read and dropped. Clients that send without waiting for responses have about so many on the way; a client
 * that never stops would keep the event loop busy.
 */
const MAX_DISCARDED_BYTES = 64 * 1024;

/**
 * Reads and drops at most `MAX_DISCARDED_BYTES`, of which some have arrived already. Then reading stops, and the connection closes once the
 * last word was sent.
 */
export function discardInput(stream: Duplex, arrivedBytes = 0): void {
  let leftBytes = MAX_DISCARDED_BYTES - arrivedBytes;
  const stop = (): void => {
    stream.pause().off('data', onData);
    if (stream.writableFinished) stream.destroy();
    else stream.once('finish', () => stream.destroy());
  };
  const onData = (chunk: Buffer): void => {
    leftBytes -= chunk.length;
    if (leftBytes <= 0) stop();
  };
  if (leftBytes <= 0) stop();
  else stream.on('data', onData).resume();
}
