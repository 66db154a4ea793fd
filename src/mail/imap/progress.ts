/** Tells clients that a command which takes long goes on, so that they do not give up (RFC 9585). */
import type { Clock, Timer } from '../../system/clock.ts';
import type { AccessWire } from '../access/wire.ts';
import { writeString } from './encode/strings.ts';

/** Time between two notifications: 10 to 15 seconds (RFC 9585 section 4). */
const PROGRESS_MS = 12_000;
/** Time between two notifications to a client that sends no more, of which the second fails when the client has gone. Our own choice. */
const PROBE_MS = 1_000;

type Client = { wire: Pick<AccessWire, 'send' | 'onInputEnd'>; clock: Clock };

/**
 * Runs a command, and meanwhile sends notifications without counts. Responses that the command sends end with a complete line, so that a
 * notification never stands inside one.
 */
export async function reportProgress<Result>(
  { wire, clock }: Client,
  tag: string,
  run: () => Promise<Result>,
): Promise<Result> {
  // A tag with this character would end the response code (RFC 9585 section 4).
  const shownTag = tag.includes(']') ? 'NIL' : writeString(tag, '7bit');
  const begin = (delayMs: number): Timer => clock.after(delayMs, () => notify(PROGRESS_MS));
  const notify = (nextMs: number): void => {
    wire.send(`* OK [INPROGRESS (${shownTag} NIL NIL)] The command goes on\r\n`);
    timer = begin(nextMs);
  };
  let timer = begin(PROGRESS_MS);
  // A client that sends no more may have gone altogether, which only octets for it show.
  const forgetEnd = wire.onInputEnd(() => {
    timer.cancel();
    notify(PROBE_MS);
  });
  try {
    return await run();
  } finally {
    forgetEnd();
    timer.cancel();
  }
}
