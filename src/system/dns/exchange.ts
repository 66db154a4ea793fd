/**
 * One question to one server: over UDP, over TCP where the answer does not fit (RFC 7766 5), without EDNS where the
 * server knows none. Each UDP query has a socket of its own, so each has a port that nobody can guess, beside its random id
 * (RFC 5452 9.2); it costs 20 µs more than a shared one. The socket is connected: the kernel drops what comes from other
 * addresses, and a port where nobody listens says so at once.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { type Query, type Question, type Response, readResponse, writeQuery } from './message.ts';

export type Server = { address: string; port: number };

/** `reason`: a code such as `ETIMEOUT`, `ECONNREFUSED`, `EMFILE`, `EBADRESP`. Whatever it is, it says nothing of the name. */
export type ExchangeOutcome = { kind: 'response'; response: Response } | { kind: 'failed'; reason: string };

const UNREADABLE: ExchangeOutcome = { kind: 'failed', reason: 'EBADRESP' };
const TIMED_OUT: ExchangeOutcome = { kind: 'failed', reason: 'ETIMEOUT' };

/** FORMERR, NOTIMP, BADVERS: what servers without EDNS, or with another version of it, answer (RFC 6891 6.1.3, 7). */
const NO_EDNS_CODES: readonly number[] = [1, 4, 16];
const MESSAGE_IDS = 0x1_0000;
/** RFC 1035 4.2.2. */
const LENGTH_BYTES = 2;

/** Never rejects. */
export async function exchange(
  clock: Clock,
  server: Server,
  question: Question,
  timeoutMs: number,
): Promise<ExchangeOutcome> {
  const deadline = clock.elapsed() + timeoutMs;
  const first = await attempt(clock, server, question, { deadline, withEdns: true });
  if (first.kind === 'failed' || !NO_EDNS_CODES.includes(first.response.code)) return first;
  return attempt(clock, server, question, { deadline, withEdns: false });
}

async function attempt(
  clock: Clock,
  server: Server,
  question: Question,
  { deadline, withEdns }: { deadline: number; withEdns: boolean },
): Promise<ExchangeOutcome> {
  const query = writeQuery(question, randomInt(MESSAGE_IDS), withEdns);
  const leftMs = () => deadline - clock.elapsed();
  const outcome = await settled(clock, leftMs(), (settle) => sendUdp(server, query, settle));
  if (outcome.kind === 'failed' || !outcome.response.isTruncated) return outcome;
  return settled(clock, leftMs(), (settle) => sendTcp(server, query, settle));
}

type Settle = (outcome: ExchangeOutcome) => void;

/** Ends at the first outcome, or when the time is up. `open` answers how to close what it has opened. */
function settled(clock: Clock, timeoutMs: number, open: (settle: Settle) => () => void) {
  return new Promise<ExchangeOutcome>((resolve) => {
    const timer = clock.after(timeoutMs, () => settle(TIMED_OUT));
    let close = () => {};
    let isSettled = false;
    const settle: Settle = (outcome) => {
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      close();
      resolve(outcome);
    };
    try {
      close = open(settle);
    } catch (error) {
      settle(failed(error));
    }
  });
}

function failed(error: unknown): ExchangeOutcome {
  return { kind: 'failed', reason: errorCode(error) ?? errorMessage(error) };
}

function sendUdp(server: Server, query: Query, settle: Settle): () => void {
  const socket = createSocket({
    type: isIPv6(server.address) ? 'udp6' : 'udp4',
    // The address is an IP literal; the system's lookup would go through the thread pool for it.
    lookup: (host, _options, callback) => callback(null, host, isIPv6(host) ? 6 : 4),
  });
  socket.on('error', (error) => settle(failed(error)));
  // Without a callback a send that fails says nothing.
  socket.on('connect', () => socket.send(query.bytes, (error) => error && settle(failed(error))));
  socket.on('message', (message) => {
    const reading = readResponse(message, query);
    // RFC 5452 9.1: what does not match is passed over, and the answer is still waited for.
    if (reading.kind !== 'foreign') settle(reading.kind === 'response' ? reading : UNREADABLE);
  });
  socket.connect(server.port, server.address);
  return () => socket.close();
}

/** A connection for each question: so few answers are long. */
function sendTcp(server: Server, query: Query, settle: Settle): () => void {
  const socket = connect({ host: server.address, port: server.port, noDelay: true });
  const parts: Buffer[] = [];
  let receivedBytes = 0;
  socket.on('error', (error) => settle(failed(error)));
  socket.on('close', () => settle(UNREADABLE));
  socket.on('data', (part: Buffer) => {
    parts.push(part);
    receivedBytes += part.length;
    const end = frameEnd(parts, receivedBytes);
    if (end === undefined || receivedBytes < end) return;
    const reading = readResponse(Buffer.concat(parts).subarray(LENGTH_BYTES, end), query);
    settle(reading.kind === 'response' && !reading.response.isTruncated ? reading : UNREADABLE);
  });
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(query.bytes.length);
  // In one write: some servers take the length and the message for one segment (RFC 7766 8).
  socket.write(Buffer.concat([length, query.bytes]));
  return () => socket.destroy();
}

/** How many bytes there must be, once the length is there; never more than 65,537. */
function frameEnd(parts: Buffer[], receivedBytes: number): number | undefined {
  if (receivedBytes < LENGTH_BYTES) return undefined;
  const [first = Buffer.alloc(0)] = parts;
  const head = first.length >= LENGTH_BYTES ? first : Buffer.concat(parts);
  return LENGTH_BYTES + head.readUInt16BE(0);
}
