/**
 * Sends the attempts at sites while they happen, in the form of the lines of a tail. One trace of a site serves everybody who watches it, and it
 * ends with the last of them. Nothing is kept, so what happens while nobody watches is not shown.
 */
import type { Readable } from 'node:stream';
import { readJsonLines } from '../../http/json/json-lines.ts';
import type { ShownTrace } from '../../queue/control/trace-api.ts';
import type { Clock } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { createLineLimit, MAX_FRAMES_PER_SECOND, MAX_LINES_PER_SECOND } from './line-limit.ts';
import { frameOf, type Stream } from './stream.ts';
import type { TraceTopic } from './topics.ts';

/** Time in which lines are taken together, in milliseconds. */
const FRAME_EVERY_MS = 1_000 / MAX_FRAMES_PER_SECOND;
/** Time after which a trace that was refused or has ended begins again, in milliseconds. */
const AGAIN_MS = 10_000;

/** A line in the form of a tail. `from` is the server of an outcome, and `reply` is what was said. */
export type TraceLine = {
  /** `busy` says that the trace could not begin. */
  type: Said['direction'] | Ended['outcome'] | 'busy';
  at: number;
  emailId: string | null;
  to: string | null;
  from: string | null;
  reply: string | null;
};
type Said = Extract<ShownTrace, { kind: 'line' }>;
type Ended = Extract<ShownTrace, { kind: 'outcome' }>;

type Traces = {
  add(stream: Stream, topics: readonly TraceTopic[]): void;
  remove(stream: Stream, topics: readonly TraceTopic[]): void;
};

type TraceClock = Pick<Clock, 'now' | 'elapsed' | 'after'>;
type Channel = { streams: Set<Stream>; stop(): void };

/** Returns traces that nobody watches. */
export function createTraces(clock: TraceClock): Traces {
  const channels = new Map<string, Channel>();
  return {
    add(stream, topics) {
      for (const topic of topics) {
        const channel = channels.get(topic.name) ?? openChannel(clock, topic);
        channels.set(topic.name, channel);
        channel.streams.add(stream);
      }
    },
    remove(stream, topics) {
      for (const { name } of topics) {
        const channel = channels.get(name);
        channel?.streams.delete(stream);
        if (channel?.streams.size !== 0) continue;
        channel.stop();
        channels.delete(name);
      }
    },
  };
}

function openChannel(clock: TraceClock, topic: TraceTopic): Channel {
  const streams = new Set<Stream>();
  const frames = createFrames(clock, (frame) => {
    for (const stream of streams) stream.send(frameOf('tail', { topic: topic.name, ...frame }));
  });
  let isOver = false;
  let bytes: Readable | undefined;

  async function watch(): Promise<void> {
    try {
      bytes = await topic.open();
      // The last reader may have gone while the trace began.
      if (isOver) bytes.destroy();
      for await (const event of readJsonLines<ShownTrace | { kind: 'dropped' }>(bytes))
        if (event.kind !== 'dropped') frames.add(lineOf(event));
    } catch (error) {
      // A stream that is destroyed ends with an error too.
      if (!isOver && error instanceof AppError) frames.add(refusedAt(clock.now()));
    }
    if (!isOver) clock.after(AGAIN_MS, () => void (isOver || watch()));
  }

  void watch();
  return {
    streams,
    stop() {
      isOver = true;
      bytes?.destroy();
    },
  };
}

function refusedAt(at: number): TraceLine {
  return { type: 'busy', at, emailId: null, to: null, from: null, reply: null };
}

function lineOf(event: ShownTrace): TraceLine {
  const [at, { emailId }] = [Date.parse(event.at), event];
  if (event.kind === 'line')
    return { type: event.direction, at, emailId, to: null, from: null, reply: event.text };
  const { outcome, to, host, diagnostic } = event;
  return { type: outcome, at, emailId, to, from: host, reply: diagnostic };
}

type Frame = { lines: (TraceLine & { position: number })[]; omitted: number; isCut: boolean };

/** Collects lines into frames. The newest lines of a second are sent, and the others are counted. */
function createFrames(clock: TraceClock, send: (frame: Frame) => void) {
  const limit = createLineLimit(clock);
  let waiting: Frame['lines'] = [];
  let omitted = 0;
  let isTimed = false;
  let last = 0;

  function flush(): void {
    isTimed = false;
    const shown = limit(waiting.length);
    const lines = waiting.slice(waiting.length - shown);
    send({ lines, omitted: omitted + waiting.length - shown, isCut: false });
    [waiting, omitted] = [[], 0];
  }

  return {
    add(line: TraceLine): void {
      // Positions grow also across restarts of the daemon, so that a page takes each line once.
      last = Math.max(last + 1, clock.now() * 1_000);
      waiting.push({ ...line, position: last });
      if (waiting.length > MAX_LINES_PER_SECOND) {
        waiting.shift();
        omitted += 1;
      }
      if (isTimed) return;
      isTimed = true;
      clock.after(FRAME_EVERY_MS, flush);
    },
  };
}
