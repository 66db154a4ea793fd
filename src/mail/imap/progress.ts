/** Tells clients that a command which takes long goes on, so that they do not give up (RFC 9585). */
import type { Clock } from '../../system/clock.ts';
import { writeString } from './encode/strings.ts';
import type { Wire } from './wire.ts';

/** Time between two notifications: 10 to 15 seconds (RFC 9585 section 4). */
const PROGRESS_MS = 12_000;

type Client = { wire: Pick<Wire, 'send'>; clock: Clock };

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
  const notify = (): void => {
    wire.send(`* OK [INPROGRESS (${shownTag} NIL NIL)] The command goes on\r\n`);
    timer = clock.after(PROGRESS_MS, notify);
  };
  let timer = clock.after(PROGRESS_MS, notify);
  try {
    return await run();
  } finally {
    timer.cancel();
  }
}
