/**
 * The open streams of all browsers. Each gets the frames of its topics as long as its person may see them. While nobody looks, nothing runs.
 */
import type { App } from '../../app.ts';
import type { EventTail } from '../../events/tail.ts';
import { frameOf, type Stream } from './stream.ts';
import { createTails } from './tails.ts';
import type { TailTopic, Topic, TraceTopic, WorkTopic } from './topics.ts';
import { createTraces } from './traces.ts';
import { createWorks } from './works.ts';

/** Time between two looks at watched work, and at the rights of streams. */
const CHECK_EVERY_MS = 1_000;
/** Time between two signs of life, which keep proxies and our own idle timeout from ending a quiet stream. */
const ALIVE_EVERY_MS = 15_000;

/** A stream, what it is about, and the check that its person may still see it. */
export type Watching = {
  stream: Stream;
  topics: readonly Topic[];
  /** Position in the event log up to which the browser knows it. */
  after: number | undefined;
  isAllowed(): Promise<boolean>;
};

type Hub = {
  /** Gives a stream its frames. */
  add(watching: Watching): Promise<void>;
  /** Forgets a stream that has ended. */
  remove(watching: Watching): Promise<void>;
  /** Ends all streams. */
  close(): void;
};

const tailsOf = ({ topics }: Watching) => topics.filter((topic): topic is TailTopic => topic.kind === 'tail');
const tracesOf = ({ topics }: Watching) =>
  topics.filter((topic): topic is TraceTopic => topic.kind === 'trace');
const worksOf = ({ topics }: Watching) => topics.filter((topic): topic is WorkTopic => topic.kind === 'work');

/** Returns a hub without streams. */
export function createHub({ clock, log, tail }: Pick<App, 'clock' | 'log'> & { tail: EventTail }): Hub {
  const watchings = new Set<Watching>();
  const tails = createTails(clock, tail);
  const works = createWorks();
  const traces = createTraces(clock);
  let isRunning = false;
  let aliveAt = 0;

  async function check({ stream, isAllowed }: Watching, isAliveDue: boolean): Promise<void> {
    if (!(await isAllowed())) {
      stream.send(frameOf('end', {}));
      stream.end();
    } else if (isAliveDue) stream.send(': alive\n\n');
  }

  async function look(): Promise<void> {
    const isAliveDue = clock.elapsed() >= aliveAt;
    if (isAliveDue) aliveAt = clock.elapsed() + ALIVE_EVERY_MS;
    for (const watching of [...watchings]) await check(watching, isAliveDue);
    await works.look();
  }

  async function run(): Promise<void> {
    try {
      await look();
    } catch (error) {
      log.warn({ err: error }, 'streams of the dashboard could not be checked');
    }
    isRunning = watchings.size > 0;
    if (isRunning) clock.after(CHECK_EVERY_MS, () => void run());
  }

  return {
    async add(watching) {
      const { stream, after } = watching;
      watchings.add(watching);
      works.add(stream, worksOf(watching));
      traces.add(stream, tracesOf(watching));
      if (!isRunning) {
        isRunning = true;
        clock.after(CHECK_EVERY_MS, () => void run());
      }
      await tails.add(stream, tailsOf(watching), after);
    },
    async remove(watching) {
      watchings.delete(watching);
      works.remove(watching.stream, worksOf(watching));
      traces.remove(watching.stream, tracesOf(watching));
      await tails.remove(watching.stream, tailsOf(watching));
    },
    close() {
      for (const { stream } of [...watchings]) stream.end();
    },
  };
}
