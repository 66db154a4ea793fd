/** Responds to messages, whatever transport they came by: reading, limits, the answer of the zone, and writing. */
import type { Clock } from '../system/clock.ts';
import { answerQuestion } from './answer.ts';
import { createCookies } from './cookies.ts';
import { createRateLimit, type Rate } from './rate-limit.ts';
import { CODES } from './wire/codes.ts';
import { type Head, type Reading, readQuery } from './wire/query.ts';
import { type Content, EMPTY, UDP_PAYLOAD_BYTES, writeResponse } from './wire/response.ts';
import type { Zone } from './zone/zone.ts';

/** The outcome of a message, for the metrics. */
export type Outcome =
  | 'answered'
  | 'no_name'
  | 'refused'
  | 'malformed'
  | 'unavailable'
  | 'ignored'
  | 'limited';

export type Responder = {
  /** Returns the response to a datagram; undefined for one that gets none. */
  respondToDatagram(message: Buffer, address: string): Buffer | undefined;
  /** Returns the response to a message over TCP; undefined for one that gets none, whose connection ends. */
  respondToSegment(message: Buffer, address: string): Buffer | undefined;
};

type ResponderOptions = {
  clock: Pick<Clock, 'elapsed'>;
  /** Returns the zone; undefined while it was never loaded. */
  zone(): Zone | undefined;
  count(outcome: Outcome): void;
};

/**
 * Rate of a network whose addresses may be forged. A resolver that many receivers share, and that needs more, gets a cookie or asks over
 * TCP.
 */
export const UNKNOWN_RATE: Rate = { perSecond: 100, burst: 500 };
/** Rate of a network whose clients have a cookie or ask over TCP. It keeps one network from occupying the server. */
export const KNOWN_RATE: Rate = { perSecond: 1_000, burst: 5_000 };
/** Size of the largest response over UDP to a client without EDNS, and the smallest that EDNS can ask for (RFC 6891 section 6.2.3). */
const MIN_UDP_BYTES = 512;
/** Maximum size of a message over TCP (RFC 1035 section 4.2.2). */
const MAX_TCP_BYTES = 65_535;
/**
 * Beyond the limit every second query gets a response without records, by which an honest client asks again with a cookie or over TCP.
 * It is hardly larger than the query, so that it does not amplify; the other queries get none.
 */
const SLIP = 2;

/** Returns what responds to messages. */
export function createResponder({ clock, zone, count }: ResponderOptions): Responder {
  const cookies = createCookies(clock);
  const unknown = createRateLimit(clock, UNKNOWN_RATE);
  const known = createRateLimit(clock, KNOWN_RATE);
  let slips = 0;

  function write(head: Head, content: Content, { address, maxBytes }: { address: string; maxBytes: number }) {
    const given = head.edns?.cookie;
    return writeResponse(head, content, { maxBytes, cookie: given && cookies.renew(given, address) });
  }

  function contentOf(reading: Exclude<Reading, { kind: 'ignored' }>): Content {
    if (reading.kind === 'refused') return { code: reading.code };
    if (reading.kind === 'cookie') return EMPTY;
    const current = zone();
    return current ? answerQuestion(current, reading.question) : { code: CODES.serverFailure };
  }

  /** Returns the response to a client beyond the limit, which may be a victim. */
  function respondBeyondLimit(head: Head, address: string): Buffer | undefined {
    slips = (slips + 1) % SLIP;
    if (slips !== 0) return undefined;
    // RFC 7873 section 5.2.3: the client repeats its query with the cookie that it is given here.
    const content: Content = head.edns?.cookie
      ? { code: CODES.badCookie }
      : { code: CODES.noError, isTruncated: true };
    return write(head, content, { address, maxBytes: MIN_UDP_BYTES });
  }

  function respond(message: Buffer, address: string, isDatagram: boolean): Buffer | undefined {
    const reading = readQuery(message);
    if (reading.kind === 'ignored') {
      count('ignored');
      return undefined;
    }
    const { edns } = reading.head;
    const isKnown = !isDatagram || (edns?.cookie !== undefined && cookies.isValid(edns.cookie, address));
    if (!(isKnown ? known : unknown).take(address)) {
      count('limited');
      return isKnown ? undefined : respondBeyondLimit(reading.head, address);
    }
    const content = contentOf(reading);
    count(outcomeOf(content));
    const payload = Math.min(UDP_PAYLOAD_BYTES, Math.max(MIN_UDP_BYTES, edns?.payloadBytes ?? 0));
    return write(reading.head, content, { address, maxBytes: isDatagram ? payload : MAX_TCP_BYTES });
  }

  return {
    respondToDatagram: (message, address) => respond(message, address, true),
    respondToSegment: (message, address) => respond(message, address, false),
  };
}

function outcomeOf({ code }: Content): Outcome {
  switch (code) {
    case CODES.noError:
      return 'answered';
    case CODES.noSuchName:
      return 'no_name';
    case CODES.serverFailure:
      return 'unavailable';
    case CODES.refused:
      return 'refused';
    case CODES.formatError:
    case CODES.notImplemented:
    case CODES.badVersion:
    case CODES.badCookie:
      return 'malformed';
  }
}
