/** The wire of an SMTP connection with the reader of its command lines. A client that does not read replies has no more commands run. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../system/clock.ts';
import { Wire, type WireOptions } from '../../connection/wire.ts';
import { CR, LF } from '../../octets.ts';
import { ConnectionFault, type FaultReason } from './fault.ts';

const OPTIONS: WireOptions<FaultReason> = {
  // Replies to many hundreds of commands.
  maxUnsentBytes: 16 * 1024,
  timeoutFault: (reason) =>
    new ConnectionFault(reason, { code: 421, status: '4.4.2', text: 'The client took too long' }),
};

export type AttachedWire = { wire: Wire<FaultReason>; lines: LineReader };

/** Returns a wire for a socket, and the reader of its command lines. */
export function attachWire(clock: Clock, socket: Duplex): AttachedWire {
  const wire = new Wire(clock, socket, OPTIONS);
  return { wire, lines: new LineReader(clock, wire) };
}

/** Maximum length of a command line without its CRLF. RFC 5321 section 4.5.3.1.4 asks for 512; extensions add to it. */
const MAX_LINE_BYTES = 4_096;

class LineReader {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #wire: Wire<FaultReason>;
  /** A line that was read and given back. */
  #line: string | undefined;

  constructor(clock: Pick<Clock, 'elapsed'>, wire: Wire<FaultReason>) {
    this.#clock = clock;
    this.#wire = wire;
  }

  /**
   * Returns the next command line without its CRLF, of at most `maxBytes`.
   * @throws ConnectionFault when the line has not ended after `timeoutMs`, when it is malformed, or when the wire was
   * interrupted; ClientGone
   */
  async read(timeoutMs: number, maxBytes = MAX_LINE_BYTES): Promise<string> {
    const wire = this.#wire;
    wire.throwIfInterrupted();
    const given = this.#line;
    this.#line = undefined;
    let octets = given === undefined ? wire.take() : undefined;
    let line = given ?? (octets && this.#splitLine(octets, maxBytes));
    if (line !== undefined && !wire.isFull) return line;
    const until = this.#clock.elapsed() + timeoutMs;
    const waitLimit = () =>
      ({ timeoutMs: Math.max(0, until - this.#clock.elapsed()), reason: 'idle' }) as const;
    if (wire.isFull) await wire.drain(waitLimit());
    while (line === undefined) {
      const more = await wire.read(waitLimit());
      octets = octets ? Buffer.concat([octets, more]) : more;
      line = this.#splitLine(octets, maxBytes);
    }
    return line;
  }

  /** Gives back a line, which is the next one that is read. */
  unread(line: string): void {
    this.#line = line;
  }

  /** Returns the line with which the octets begin, and gives back what follows it; undefined when the line has not ended. */
  #splitLine(octets: Buffer, maxBytes: number): string | undefined {
    const end = octets.indexOf(LF);
    if (end > 0 && end <= maxBytes + 1 && octets[end - 1] === CR) {
      this.#wire.unread(octets.subarray(end + 1));
      return octets.toString('utf8', 0, end - 1);
    }
    // A line that ends with a bare LF might be read as two by another server, and as one by this one.
    if (end >= 0 && end <= maxBytes + 1)
      throw lineFault('bare_line_feed', 'A command must end with CRLF, not with a bare LF');
    if (octets.length > maxBytes + 1)
      throw lineFault('line_length', `A command must have at most ${maxBytes} octets`);
    return undefined;
  }
}

function lineFault(reason: 'bare_line_feed' | 'line_length', text: string): ConnectionFault {
  return new ConnectionFault(reason, { code: 500, status: '5.5.2', text });
}
