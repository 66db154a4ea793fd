/** Hands connections over within one thread, over a port as the daemon does between two. */
import { MessageChannel } from 'node:worker_threads';
import { Handover } from '../../src/mail/access/handover.ts';
import type { UserStream } from '../../src/mail/access/serve-user.ts';
import { StreamPort } from '../../src/system/thread/streams.ts';

/** Returns handovers over a new port, which does not keep the process running. */
export function createHandovers() {
  const { port1, port2 } = new MessageChannel();
  const [near, far] = [new StreamPort(port1), new StreamPort(port2)];
  for (const port of [port1, port2]) port.unref();
  let last = 0;
  return {
    /** Returns a handover to whoever serves the stream. */
    handOverTo(serve: (stream: UserStream) => void): Handover {
      const number = ++last;
      serve({ port: far, number });
      return new Handover(near, number);
    },
    /** Ends the other side, as the death of a thread does. */
    endThread: () => port2.close(),
  };
}

export const { handOverTo } = createHandovers();
