/**
 * Sends one question to one server: over UDP, over TCP when the answer does not fit (RFC 7766 section 5), and without
 * EDNS when the server does not support it. Each UDP query has its own socket, and so a random port in addition to
 * its random id (RFC 5452 section 9.2); this costs 20 µs more than a shared socket. The socket is connected, so the
 * kernel drops packets from other addresses and reports a closed port at once.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { type Query, type Question, type Response, readResponse, writeQuery } from './message.ts';

export type Server = { address: string; port: number };

/**
 * The result of a query. `reason` is a code such as `ETIMEOUT`, `ECONNREFUSED`, `EMFILE` or `EBADRESP`. A failure
 * never says anything about the name.
 */
export type ExchangeOutcome = { kind: 'response'; response: Response } | { kind: 'failed'; reason: string };

const UNREADABLE: ExchangeOutcome = { kind: 'failed', reason: 'EBADRESP' };
const TIMED_OUT: ExchangeOutcome = { kind: 'failed', reason: 'ETIMEOUT' };

/**
 * Response codes of servers without EDNS or with another version of it: FORMERR, NOTIMP and BADVERS (RFC 6891
 * sections 6.1.3 and 7).
 */
const NO_EDNS_CODES: readonly number[] = [1, 4, 16];
const MESSAGE_IDS = 0x1_0000;
/** Size of the length field before a message over TCP (RFC 1035 section 4.2.2). */
const LENGTH_BYTES = 2;

type Exchange = { server: Server; question: Question };

/** Asks the server and waits at most `timeoutMs` in total, with all fallbacks. It never rejects. */
export async function exchange(
  clock: Clock,
  { timeoutMs, ...asked }: Exchange & { timeoutMs: number },
): Promise<ExchangeOutcome> {
  const deadline = clock.elapsed() + timeoutMs;
  const first = await attempt(clock, { ...asked, deadline, withEdns: true });
  if (first.kind === 'failed' || !NO_EDNS_CODES.includes(first.response.code)) return first;
  return attempt(clock, { ...asked, deadline, withEdns: false });
}

async function attempt(
  clock: Clock,
  { server, question, deadline, withEdns }: Exchange & { deadline: number; withEdns: boolean },
): Promise<ExchangeOutcome> {
  const query = writeQuery(question, randomInt(MESSAGE_IDS), withEdns);
  const leftMs = () => deadline - clock.elapsed();
  const outcome = await settled(clock, leftMs(), (settle) => sendUdp(server, query, settle));
  if (outcome.kind === 'failed' || !outcome.response.isTruncated) return outcome;
  return settled(clock, leftMs(), (settle) => sendTcp(server, query, settle));
}

type Settle = (outcome: ExchangeOutcome) => void;

/**
 * Resolves with the first outcome, or with a timeout. `open` starts the exchange and returns the function that closes
 * it.
 */
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
    // The address is an IP literal. The system's lookup would occupy the thread pool for it.
    lookup: (host, _options, callback) => callback(null, host, isIPv6(host) ? 6 : 4),
  });
  socket.on('error', (error) => settle(failed(error)));
  // The socket reports a failed send only to a callback.
  socket.on('connect', () => socket.send(query.bytes, (error) => error && settle(failed(error))));
  socket.on('message', (message) => {
    const reading = readResponse(message, query);
    // A response that does not match the query is ignored, and the exchange keeps waiting (RFC 5452 section 9.1).
    if (reading.kind !== 'foreign') settle(reading.kind === 'response' ? reading : UNREADABLE);
  });
  socket.connect(server.port, server.address);
  return () => socket.close();
}

/** Sends the query over a new TCP connection. Long answers are rare, so connections are not reused. */
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
  // The length and the message are one write, because some servers expect both in one segment (RFC 7766 section 8).
  socket.write(Buffer.concat([length, query.bytes]));
  return () => socket.destroy();
}

/**
 * Returns the total size of the message with its length field, at most 65,537 bytes; undefined until the length field
 * has arrived.
 */
function frameEnd(parts: Buffer[], receivedBytes: number): number | undefined {
  if (receivedBytes < LENGTH_BYTES) return undefined;
  const [first = Buffer.alloc(0)] = parts;
  const head = first.length >= LENGTH_BYTES ? first : Buffer.concat(parts);
  return LENGTH_BYTES + head.readUInt16BE(0);
}
