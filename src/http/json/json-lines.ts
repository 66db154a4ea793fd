/**
 * A response whose lines are sent as they come, each a value in JSON (application/x-ndjson). A reader that does not keep up is ended, so
 * that it costs a bounded amount of memory. An empty line now and then tells the reader that nothing has happened, and finds out
 * when it has gone.
 */
import { Readable } from 'node:stream';
import type { Clock, Timer } from '../../system/clock.ts';

export const JSON_LINES_TYPE = 'application/x-ndjson';
/** Maximum size of the lines that a reader has not taken yet. */
const MAX_BEHIND_BYTES = 256 * 1024;
/** Time between two empty lines, in milliseconds. Clients wait for 30 s. */
const EMPTY_LINE_MS = 10_000;

export type JsonLines = {
  /** The body of the response. */
  readonly stream: Readable;
  /** Sends a line. It does nothing once the lines have ended. */
  send(value: object): void;
  end(): void;
};

/** Returns lines without content. `onEnd` is called once when they have ended, for whatever reason. */
export function createJsonLines(clock: Pick<Clock, 'after'>, onEnd: () => void): JsonLines {
  let isOver = false;
  let timer: Timer | undefined;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    timer?.cancel();
    onEnd();
  };
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      stop();
      done(error);
    },
  });
  const end = () => {
    if (isOver) return;
    stop();
    stream.push(null);
  };
  const push = (line: string) => {
    if (isOver) return;
    if (stream.readableLength <= MAX_BEHIND_BYTES) return void stream.push(`${line}\n`);
    stream.push(`${JSON.stringify({ kind: 'dropped' })}\n`);
    end();
  };
  const wait = () => {
    timer = clock.after(EMPTY_LINE_MS, () => {
      push('');
      if (!isOver) wait();
    });
  };
  // The headers of a response are sent with its first bytes, and tell the reader that it was not refused.
  push('');
  wait();
  return { stream, send: (value) => push(JSON.stringify(value)), end };
}

/** Yields the values of lines of JSON. Empty lines have none. */
export async function* readJsonLines<Line>(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Line> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line;
  }
}
