/** The wire of a connection for IMAP, POP3 or ManageSieve. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../system/clock.ts';
import { type WaitLimit, Wire, type WireOptions } from '../connection/wire.ts';
import { ConnectionFault, type FaultReason } from './fault.ts';
import { MAX_UNSENT_BYTES } from './options.ts';

export type AccessWire = Wire<FaultReason>;
export type AccessWaitLimit = WaitLimit<FaultReason>;

const OPTIONS: WireOptions<FaultReason> = {
  maxUnsentBytes: MAX_UNSENT_BYTES,
  timeoutFault: (reason) => new ConnectionFault(reason, 'The client took too long'),
};

/** Returns a wire for a socket, or for a stream on top of it. */
export function openWire(clock: Clock, stream: Duplex): AccessWire {
  return new Wire(clock, stream, OPTIONS);
}
