/** Tells streams when a piece of work has changed, such as an import. One call serves everybody who watches the same work. */
import { hash } from 'node:crypto';
import { frameOf, type Stream } from './stream.ts';
import type { WorkTopic } from './topics.ts';

/** Maximum number of pieces of work that are watched at the same time. Pages that show others ask by themselves, though seldom. */
const MAX_WATCHED = 200;

type Channel = { topic: WorkTopic; streams: Set<Stream>; last: string | undefined };

type Works = {
  add(stream: Stream, topics: readonly WorkTopic[]): void;
  remove(stream: Stream, topics: readonly WorkTopic[]): void;
  /** Looks at each piece of work once. */
  look(): Promise<void>;
};

/** Returns works that nobody watches. */
export function createWorks(): Works {
  const channels = new Map<string, Channel>();
  return {
    add(stream, topics) {
      for (const topic of topics) {
        const streams = channels.get(topic.name)?.streams ?? new Set();
        if (streams.size === 0 && channels.size >= MAX_WATCHED) continue;
        // The page may be older than the last look, so that everybody is told at the next one.
        channels.set(topic.name, { topic, streams: streams.add(stream), last: undefined });
      }
    },
    remove(stream, topics) {
      for (const { name } of topics) {
        const channel = channels.get(name);
        channel?.streams.delete(stream);
        if (channel?.streams.size === 0) channels.delete(name);
      }
    },
    async look() {
      for (const channel of [...channels.values()]) await lookAt(channel);
    },
  };
}

/** Tells the streams of a piece of work when it has changed. Work that cannot be read any more has changed for the last time. */
async function lookAt(channel: Channel): Promise<void> {
  const { topic, streams, last } = channel;
  const answer = await topic.read().catch(() => 'gone');
  channel.last = hash('sha256', JSON.stringify(answer));
  if (channel.last === last) return;
  const frame = frameOf('changed', { topic: topic.name });
  for (const stream of streams) stream.send(frame);
}
