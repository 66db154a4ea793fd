/** Carries wake-ups between the threads of the daemon. */
import type { Clock } from '../clock.ts';
import { createWakeups, type WakeupName, type WakeupSubjects, type Wakeups } from '../wakeups.ts';
import type { FromThread, WakeupMessage } from './messages.ts';

/**
 * Minimum time between two messages with wake-ups to a thread, in milliseconds. A thread that works for a thousand emails a second
 * finds several of them at once.
 */
const MIN_INTERVAL_MS = 10;

/**
 * Sends wake-ups to another thread. The first one leaves at the end of its turn of the event loop, and those that soon follow are
 * merged, because a wake-up only says that there may be work, and a message costs more than the wake-up.
 */
class WakeupSender {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #post: (message: WakeupMessage) => void;
  /** The subjects of each wake-up that waits; undefined when they are unknown. */
  readonly #waiting = new Map<WakeupName, Set<string> | undefined>();
  #isSending = false;

  constructor(clock: Pick<Clock, 'after'>, post: (message: WakeupMessage) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  send(name: WakeupName, subjects: WakeupSubjects): void {
    this.#add(name, subjects);
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => this.#flush());
  }

  /** Adds the subjects to those that wait. They become unknown when those of one wake-up are. */
  #add(name: WakeupName, subjects: WakeupSubjects): void {
    if (!subjects) this.#waiting.set(name, undefined);
    else if (!this.#waiting.has(name)) this.#waiting.set(name, new Set(subjects));
    else for (const subject of subjects) this.#waiting.get(name)?.add(subject);
  }

  #flush(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [name, subjects] of waiting)
      this.#post({ kind: 'wakeup', name, subjects: subjects && [...subjects] });
    this.#clock.after(MIN_INTERVAL_MS, () => {
      if (this.#waiting.size > 0) this.#flush();
      else this.#isSending = false;
    });
  }
}

type ThreadWakeups = Wakeups & {
  /** Wakes the listeners of this thread. */
  receive(message: WakeupMessage): void;
};

/** Returns the wake-ups of a thread: what happens in it wakes the main thread too, and the other way round. */
export function createThreadWakeups(
  clock: Pick<Clock, 'after'>,
  post: (message: FromThread) => void,
): ThreadWakeups {
  const local = createWakeups();
  const sender = new WakeupSender(clock, post);
  const listened = new Set<WakeupName>();
  return {
    notify(name, subjects) {
      local.notify(name, subjects);
      sender.send(name, subjects);
    },
    listen(name, run) {
      if (!listened.has(name)) post({ kind: 'listen', name });
      listened.add(name);
      return local.listen(name, run);
    },
    receive: ({ name, subjects }) => local.notify(name, subjects),
  };
}

/** The main thread's side of the wake-ups of one thread. */
export class WakeupRelay {
  readonly #wakeups: Wakeups;
  readonly #sender: WakeupSender;
  readonly #ends: (() => void)[] = [];
  /** True while a wake-up of the thread is passed on, which the thread itself must not receive again. */
  #isPassingOn = false;

  constructor(
    { wakeups, clock }: { wakeups: Wakeups; clock: Pick<Clock, 'after'> },
    post: (message: WakeupMessage) => void,
  ) {
    this.#wakeups = wakeups;
    this.#sender = new WakeupSender(clock, post);
  }

  /** Sends wake-ups of this name to the thread from now on. */
  listen(name: WakeupName): void {
    const end = this.#wakeups.listen(name, (subjects) => {
      if (!this.#isPassingOn) this.#sender.send(name, subjects);
    });
    this.#ends.push(end);
  }

  /** Wakes the listeners of the other threads. */
  passOn({ name, subjects }: WakeupMessage): void {
    this.#isPassingOn = true;
    try {
      this.#wakeups.notify(name, subjects);
    } finally {
      this.#isPassingOn = false;
    }
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}
