/** Chooses the next change of a client. */
import type { SeededRandom } from '../seeded-random.ts';
import { tokenOf } from './letter.ts';
import { type Change, type ChangeKind, DELETED, type KnownMessage, type Model } from './model.ts';

/** Weights of the kinds when chance decides. A mailbox with many messages is emptied, so that a reading stays short. */
const WEIGHTS: Record<ChangeKind, number> = {
  append: 8,
  flags: 8,
  copy: 3,
  move: 4,
  expunge: 3,
  quit: 2,
  create: 1,
  rename: 1,
  delete: 1,
};
const FLAGS = ['\\Seen', '\\Flagged', '\\Answered', DELETED, DELETED, '$Label', 'Work'];
const MAX_FOLDERS = 9;
const MAX_MESSAGES = 60;
const MAX_UIDS = 4;
/** Share of the changes of flags that change a whole folder, whose rows are written afterwards. */
const WHOLE_SHARE = 0.25;
const MADE = /^box-/;
const MEDIUM_SHARE = 0.1;
const LARGE_SHARE = 0.1;

export class Changes {
  readonly #random: SeededRandom;
  readonly #name: string;
  #lastNumber = 0;

  /** `name` tells the tokens of one mailbox from those of others. */
  constructor(random: SeededRandom, name: string) {
    this.#random = random;
    this.#name = name;
  }

  /** Returns a change that this mailbox allows: of this kind, or one that leads to it. */
  next(model: Model, wanted?: ChangeKind): Change {
    const kind = wanted ?? this.#chooseKind(model);
    const folder = this.#choose(
      [...model.keys()].filter((name) => model.get(name)?.messages.some(isNumbered)),
    );
    const made = this.#choose([...model.keys()].filter((name) => MADE.test(name)));
    switch (kind) {
      case 'append':
        return this.append(this.#choose([...model.keys()]) ?? 'INBOX');
      case 'create':
        return { kind, folder: this.#newName() };
      case 'rename':
        return made === undefined
          ? { kind: 'create', folder: this.#newName() }
          : { kind, folder: made, to: this.#newName() };
      case 'delete':
        return made === undefined ? { kind: 'create', folder: this.#newName() } : { kind, folder: made };
      case 'quit': {
        const inbox = (model.get('INBOX')?.messages ?? []).filter(isNumbered);
        return inbox.length === 0 ? this.append('INBOX') : { kind, folder: 'INBOX', uids: this.#uids(inbox) };
      }
      case 'flags':
      case 'copy':
      case 'move':
      case 'expunge':
        return folder === undefined ? this.append('INBOX') : this.#ofMessages(kind, model, folder);
    }
  }

  /** Returns an append of a message: to the folder, of this size or one by chance. */
  append(folder: string, size = this.#size()): Change {
    const token = tokenOf(`append-${this.#name}`, ++this.#lastNumber, size);
    return { kind: 'append', folder, token, flags: this.#random.share() < 1 / 2 ? '' : '\\Seen' };
  }

  #ofMessages(kind: 'flags' | 'copy' | 'move' | 'expunge', model: Model, folder: string): Change {
    const messages = (model.get(folder)?.messages ?? []).filter(isNumbered);
    const uids = this.#uids(messages);
    if (kind === 'expunge') {
      const marked = [...model].find(([, one]) => one.messages.some(isDeleted))?.[0];
      return marked === undefined
        ? { kind: 'flags', folder, uids, flag: DELETED, isAdded: true }
        : { kind, folder: marked };
    }
    if (kind === 'flags') {
      const flag = this.#choose(FLAGS) ?? DELETED;
      const isWhole = flag !== DELETED && this.#random.share() < WHOLE_SHARE;
      const changed = isWhole ? messages.map(({ uid }) => uid) : uids;
      // An addition that changes something, for whoever waits for a commit.
      const isAdded = messages.some(
        (one) => changed.includes(one.uid) && !one.flags.split(' ').includes(flag),
      );
      return { kind, folder, uids: changed, flag, isAdded };
    }
    const to = this.#choose([...model.keys()].filter((name) => name !== folder)) ?? 'INBOX';
    return { kind, folder, uids, to };
  }

  #uids(messages: readonly Numbered[]): number[] {
    const count = 1 + Math.floor(this.#random.share() * MAX_UIDS);
    const chosen = Array.from({ length: count }, () => this.#choose(messages)?.uid ?? 0);
    return [...new Set(chosen)].toSorted((one, other) => one - other);
  }

  #chooseKind(model: Model): ChangeKind {
    const messages = [...model.values()].flatMap((folder) => folder.messages);
    if (messages.length > MAX_MESSAGES) return this.#random.share() < 1 / 2 ? 'expunge' : 'delete';
    const allowed = Object.entries(WEIGHTS).flatMap(([kind, weight]) =>
      kind === 'create' && model.size >= MAX_FOLDERS
        ? []
        : Array<ChangeKind>(weight).fill(kind as ChangeKind),
    );
    return this.#choose(allowed) ?? 'append';
  }

  #newName(): string {
    return `box-${this.#name}-${++this.#lastNumber}`;
  }

  #size(): 's' | 'm' | 'l' {
    const share = this.#random.share();
    if (share < LARGE_SHARE) return 'l';
    return share < LARGE_SHARE + MEDIUM_SHARE ? 'm' : 's';
  }

  #choose<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random.share() * items.length)];
  }
}

type Numbered = KnownMessage & { uid: number };

function isNumbered(message: KnownMessage): message is Numbered {
  return message.uid !== undefined;
}

function isDeleted({ flags }: KnownMessage): boolean {
  return flags.split(' ').includes(DELETED);
}
