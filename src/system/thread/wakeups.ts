/** Carries wake-ups between the threads of the daemon. */
import { createWakeups, type WakeupName, type WakeupSubjects, type Wakeups } from '../wakeups.ts';
import type { FromThread, WakeupMessage } from './messages.ts';

/**
 * Sends wake-ups to another thread. Those of one turn of the event loop are merged, because a wake-up only says that
 * there may be work, and a message costs more than the wake-up.
 */
class WakeupSender {
  readonly #post: (message: WakeupMessage) => void;
  readonly #waiting = new Map<WakeupName, WakeupSubjects>();

  constructor(post: (message: WakeupMessage) => void) {
    this.#post = post;
  }

  send(name: WakeupName, subjects: WakeupSubjects): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    const isMerged = this.#waiting.has(name);
    this.#waiting.set(name, isMerged ? merge(this.#waiting.get(name), subjects) : subjects);
  }

  #flush(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [name, subjects] of waiting) this.#post({ kind: 'wakeup', name, subjects });
  }
}

/** Returns the subjects of both. They are unknown when those of one are. */
function merge(some: WakeupSubjects, others: WakeupSubjects): WakeupSubjects {
  return some && others && [...new Set([...some, ...others])];
}

type ThreadWakeups = Wakeups & {
  /** Wakes the listeners of this thread. */
  receive(message: WakeupMessage): void;
};

/** Returns the wake-ups of a thread: what happens in it wakes the main thread too, and the other way round. */
export function createThreadWakeups(post: (message: FromThread) => void): ThreadWakeups {
  const local = createWakeups();
  const sender = new WakeupSender(post);
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

  constructor(wakeups: Wakeups, post: (message: WakeupMessage) => void) {
    this.#wakeups = wakeups;
    this.#sender = new WakeupSender(post);
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
