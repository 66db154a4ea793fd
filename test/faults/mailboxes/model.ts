/** The state of a mailbox as its client knows it, and the state that follows from each change. */

/** System flags and keywords without \Recent, sorted, with spaces in between. */
export type Flags = string;

/** A message, named by its token. Its UID is undefined when no answer has told it. */
export type KnownMessage = { uid: number | undefined; token: string; flags: Flags };

/** `uidValidity` is undefined when no answer has told it. */
export type KnownFolder = { uidValidity: number | undefined; messages: readonly KnownMessage[] };

/** The folders of a mailbox by their names. */
export type Model = ReadonlyMap<string, KnownFolder>;

/** The change that one command asks for. It is made completely or not at all. */
export type Change =
  | { kind: 'append'; folder: string; token: string; flags: Flags }
  | { kind: 'flags'; folder: string; uids: readonly number[]; flag: string; isAdded: boolean }
  | { kind: 'copy' | 'move'; folder: string; uids: readonly number[]; to: string }
  | { kind: 'expunge'; folder: string }
  /** Deletes messages by POP3, whose QUIT makes the change. */
  | { kind: 'quit'; folder: 'INBOX'; uids: readonly number[] }
  | { kind: 'create' | 'delete'; folder: string }
  | { kind: 'rename'; folder: string; to: string };

export type ChangeKind = Change['kind'];

export const DELETED = '\\Deleted';

/** Returns flags in the form in which they are compared. */
export function flagsOf(names: readonly string[]): Flags {
  return names
    .filter((name) => name !== '' && name !== '\\Recent')
    .toSorted()
    .join(' ');
}

/** Returns the mailbox after a change. `uids` are those that the answer gave to new messages; without an answer there are none. */
export function changed(model: Model, change: Change, uids: readonly number[] = []): Model {
  const after = new Map(model);
  const folder = messagesIn(model, change.folder);
  const set = (name: string, messages: readonly KnownMessage[]) =>
    after.set(name, { uidValidity: after.get(name)?.uidValidity, messages });
  switch (change.kind) {
    case 'append': {
      const { token, flags } = change;
      set(change.folder, [...folder, { uid: uids[0], token, flags }]);
      break;
    }
    case 'flags':
      set(
        change.folder,
        folder.map((message) => (isNamed(message, change.uids) ? withFlag(message, change) : message)),
      );
      break;
    case 'copy':
    case 'move': {
      const named = folder.filter((message) => isNamed(message, change.uids));
      if (change.kind === 'move')
        set(
          change.folder,
          folder.filter((message) => !named.includes(message)),
        );
      const copies = named.map((message, index) => ({ ...message, uid: uids[index] }));
      set(change.to, [...messagesIn(after, change.to), ...copies]);
      break;
    }
    case 'expunge':
      set(
        change.folder,
        folder.filter(({ flags }) => !flags.split(' ').includes(DELETED)),
      );
      break;
    case 'quit':
      set(
        change.folder,
        folder.filter((message) => !isNamed(message, change.uids)),
      );
      break;
    case 'create':
      after.set(change.folder, { uidValidity: undefined, messages: [] });
      break;
    case 'delete':
      after.delete(change.folder);
      break;
    case 'rename': {
      const moved = after.get(change.folder);
      after.delete(change.folder);
      if (moved) after.set(change.to, moved);
    }
  }
  return after;
}

function messagesIn(model: Model, name: string): readonly KnownMessage[] {
  return model.get(name)?.messages ?? [];
}

function isNamed({ uid }: KnownMessage, uids: readonly number[]): boolean {
  return uid !== undefined && uids.includes(uid);
}

function withFlag(message: KnownMessage, { flag, isAdded }: Change & { kind: 'flags' }): KnownMessage {
  const others = message.flags.split(' ').filter((name) => name !== flag);
  return { ...message, flags: flagsOf(isAdded ? [...others, flag] : others) };
}
