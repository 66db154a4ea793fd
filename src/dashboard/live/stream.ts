/** One stream of server-sent events to a browser. A browser that does not read is dropped, so that it takes no memory. */
import type { ServerResponse } from 'node:http';

/**
 * Maximum number of bytes that wait for a browser. It is more than a minute of the fullest tail, and 500 streams that are not read hold
 * 64 MiB at most before they are dropped.
 */
export const MAX_UNSENT_BYTES = 128 * 1024;
/** Time after which a browser connects again, in milliseconds. */
const RETRY_MS = 3_000;

export type Stream = {
  /** Sends a frame, or drops the stream when too much waits already. */
  send(frame: string): void;
  end(): void;
  readonly hasEnded: boolean;
};

/** Begins a stream as the answer to a request. `onEnd` is called once, whoever ends it. */
export function beginStream(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  onEnd: () => void,
): Stream {
  let hasEnded = false;
  response.once('close', () => {
    hasEnded = true;
    onEnd();
  });
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy must not collect what is to be seen at once.
    'x-accel-buffering': 'no',
  });
  response.write(`retry: ${RETRY_MS}\n\n`);
  return {
    send(frame) {
      if (hasEnded) return;
      response.write(frame);
      if (response.writableLength > MAX_UNSENT_BYTES) response.destroy();
    },
    end() {
      if (!hasEnded) response.end();
    },
    get hasEnded() {
      return hasEnded;
    },
  };
}

/** Returns an event in the format of server-sent events (HTML, "Server-sent events"). JSON has no line ends. */
export function frameOf(event: string, data: object, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
