/** Sends the lines of tails. A frame is made once for all streams of a tail, and one read of the event log serves all tails. */
import type { EventTail, Follower } from '../../events/tail.ts';
import type { TailLine } from '../../events/tail-store.ts';
import type { Clock } from '../../system/clock.ts';
import { createLineLimit, type LineLimit, MAX_LINES_PER_SECOND } from './line-limit.ts';
import { frameOf, type Stream } from './stream.ts';
import type { TailTopic } from './topics.ts';

/** Maximum number of events that are read for a browser that comes back. */
const MAX_RESUMED = 1_000;

type Channel = {
  topic: TailTopic;
  streams: Set<Stream>;
  limit: LineLimit;
  /** Number of lines that were left out since the last frame. */
  omitted: number;
};

type Tails = {
  /** Gives a stream the lines of tails: those behind a position that the browser knows, and all that come. */
  add(stream: Stream, topics: readonly TailTopic[], after: number | undefined): Promise<void>;
  remove(stream: Stream, topics: readonly TailTopic[]): Promise<void>;
};

/** Returns tails that nobody looks at. */
export function createTails(clock: Pick<Clock, 'elapsed'>, tail: EventTail): Tails {
  const channels = new Map<string, Channel>();
  let following: Promise<() => void> | undefined;

  const show: Follower = ({ lines, position, skipped }) => {
    for (const channel of channels.values()) {
      const { topic, limit, streams } = channel;
      const own = lines.filter(topic.accepts);
      const shown = limit(own.length);
      const omitted = channel.omitted + own.length - shown;
      channel.omitted = 0;
      if (own.length === 0 && omitted === 0) continue;
      const frame = tailFrame(topic, own.slice(own.length - shown), {
        position,
        omitted,
        isCut: skipped > 0,
      });
      for (const stream of streams) stream.send(frame);
    }
  };

  async function resume(stream: Stream, topics: readonly TailTopic[], after: number): Promise<void> {
    const { lines, position } = await tail.since(after, MAX_RESUMED);
    const isCut = lines.length === MAX_RESUMED;
    for (const topic of topics) {
      const own = lines.filter(topic.accepts);
      const shown = own.slice(-MAX_LINES_PER_SECOND);
      if (own.length === 0 && !isCut) continue;
      stream.send(tailFrame(topic, shown, { position, omitted: own.length - shown.length, isCut }));
    }
  }

  return {
    async add(stream, topics, after) {
      if (topics.length === 0) return;
      for (const topic of topics) {
        const { name } = topic;
        const channel = channels.get(name) ?? {
          topic,
          streams: new Set(),
          limit: createLineLimit(clock),
          omitted: 0,
        };
        channels.set(name, channel);
        channel.streams.add(stream);
      }
      following ??= tail.follow(show);
      await following;
      // A line behind the position that is also new is sent twice. The browser knows the positions of lines, and shows it once.
      if (after !== undefined) await resume(stream, topics, after);
    },
    async remove(stream, topics) {
      for (const { name } of topics) {
        const channel = channels.get(name);
        channel?.streams.delete(stream);
        if (channel?.streams.size === 0) channels.delete(name);
      }
      if (channels.size > 0 || !following) return;
      const stop = following;
      following = undefined;
      (await stop)();
    },
  };
}

type Extent = { position: number; omitted: number; isCut: boolean };

/** Returns a frame. `omitted` counts the lines that were left out; with `isCut` there are more, which nobody has counted. */
function tailFrame(
  { name }: TailTopic,
  lines: readonly TailLine[],
  { position, omitted, isCut }: Extent,
): string {
  const shown = lines.map(({ tenantId: _tenant, mode: _mode, ...line }) => line);
  return frameOf('tail', { topic: name, lines: shown, omitted, isCut }, position);
}
