/**
 * Answers queries over TCP (RFC 7766), each after two bytes with its length. A client may send several at once; the responses come in
 * their order. A client that stalls, or that does not read its responses, is cut off.
 */
import { createServer, type Socket } from 'node:net';
import { addressNetwork } from '../../system/address-block.ts';
import type { Clock, Timer } from '../../system/clock.ts';
import { type Evictable, EvictionQueue } from '../../system/guards/eviction-queue.ts';
import { type Listener, listen } from '../../system/listen.ts';
import type { Metrics } from '../../system/metrics.ts';

type TcpOptions = {
  at: { address: string; port: number };
  /** Returns the response to a message; undefined closes the connection. */
  answer(message: Buffer, address: string): Buffer | undefined;
};

/** Maximum number of open connections. */
const MAX_TCP_CONNECTIONS = 500;
/** Maximum number of open connections of one client. A resolver asks little over TCP. */
const MAX_CONNECTIONS_PER_ADDRESS = 20;
/** Time within which a client sends its next query, and reads the response (RFC 7766 section 6.2.3 recommends seconds). */
export const IDLE_MS = 10_000;
/** Maximum size of a query. One with a name of full length and all options has a tenth of it. */
export const MAX_QUERY_BYTES = 4_096;
/** Maximum number of queries that are answered at once, which bounds the responses that wait for a client. Resolvers send a few. */
export const MAX_QUERIES_AT_ONCE = 100;
/** Size of the length before each message (RFC 1035 section 4.2.2). */
const LENGTH_BYTES = 2;

type Connection = Evictable & { socket: Socket };

/**
 * Starts to answer.
 * @throws ListenError
 */
export async function listenTcp(
  system: { clock: Clock; metrics?: Metrics },
  { at, answer }: TcpOptions,
): Promise<Listener> {
  const idle = new EvictionQueue<Connection>();
  let open = 0;
  let serial = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const address = socket.remoteAddress ?? '';
    serial += 1;
    const since = system.clock.elapsed();
    const connection: Connection = { socket, network: addressNetwork(address), since, serial };
    open += 1;
    idle.add(connection);
    socket.once('close', () => {
      open -= 1;
      idle.delete(connection);
    });
    serve(system.clock, socket, (message) => answer(message, address));
  });
  return await listen(system, server, {
    section: 'nameserver',
    at,
    limits: { total: MAX_TCP_CONNECTIONS, perAddress: MAX_CONNECTIONS_PER_ADDRESS },
    // The oldest connection of the network with the most of them makes room, so that one network cannot occupy the server.
    evictOne() {
      const oldest = open >= MAX_TCP_CONNECTIONS ? idle.first : undefined;
      oldest?.socket.destroy();
      return oldest?.socket;
    },
  });
}

function serve(clock: Clock, socket: Socket, answer: (message: Buffer) => Buffer | undefined): void {
  let held: Buffer = Buffer.alloc(0);
  let timer: Timer = clock.after(IDLE_MS, () => socket.destroy());
  const startTimer = () => {
    timer.cancel();
    timer = clock.after(IDLE_MS, () => socket.destroy());
  };
  socket.once('close', () => timer.cancel());
  // The time is not renewed while responses wait for the client.
  socket.on('drain', () => {
    startTimer();
    socket.resume();
  });
  socket.on('data', (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    const { messages, rest } = split(held);
    if (messages.length > MAX_QUERIES_AT_ONCE || rest.length > MAX_QUERY_BYTES) return void socket.destroy();
    held = rest;
    const responses = messages.map(answer);
    const isForeign = responses.some((response) => response === undefined);
    const wanted = responses.filter((response) => response !== undefined);
    const isTaken = wanted.length === 0 || socket.write(Buffer.concat(wanted.flatMap(frame)));
    if (isForeign) socket.end();
    if (!isTaken) socket.pause();
    else if (wanted.length > 0) startTimer();
  });
}

function split(bytes: Buffer): { messages: Buffer[]; rest: Buffer } {
  const messages: Buffer[] = [];
  let offset = 0;
  while (offset + LENGTH_BYTES <= bytes.length) {
    const end = offset + LENGTH_BYTES + bytes.readUInt16BE(offset);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(offset + LENGTH_BYTES, end));
    offset = end;
  }
  return { messages, rest: bytes.subarray(offset) };
}

function frame(response: Buffer): Buffer[] {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(response.length);
  return [length, response];
}
