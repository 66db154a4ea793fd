/** Puts a wire on a socket, with a reader of command lines. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../system/clock.ts';
import { Wire, type WireOptions } from '../../connection/wire.ts';
import { ConnectionFault, type FaultReason } from './fault.ts';
import { LineReader } from './line-reader.ts';

const OPTIONS: WireOptions<FaultReason> = {
  // Replies to many hundreds of commands. Our own limit.
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
