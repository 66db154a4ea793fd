/** Keeps the annotations that others have changed, until the client of one session is told of them (RFC 5464 section 4.4.2). */
import { writeMetadataNames } from '../../../mail/imap/encode/metadata.ts';
import type { TextForm } from '../../../mail/imap/encode/strings.ts';
import type { Chunks } from '../../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import type { MetadataChange } from '../changes.ts';
import { findFolderById } from '../folder-store.ts';
import { SERVER } from '../metadata-store.ts';
import { Responses } from './responses.ts';

/** Maximum number of names that wait for a client that asks for nothing. The oldest ones are forgotten beyond it. Our own limit. */
const MAX_NAMES = 1_000;

type Named = { folderId: number; entry: string };

/** The news of one session. It is the origin of the changes that the session makes itself, of which the client is not told. */
export class MetadataNews {
  readonly #account: OpenAccount;
  /** Changed entries by folder and name, the oldest first. */
  readonly #names = new Map<string, Named>();
  readonly #listeners = new Set<() => void>();
  #unsubscribe: (() => void) | undefined;

  constructor(account: OpenAccount) {
    this.#account = account;
  }

  /** Keeps changes from now on. */
  begin(): void {
    this.#unsubscribe ??= this.#account.changes.metadata.subscribe((change) => this.#note(change));
  }

  end(): void {
    this.#unsubscribe?.();
  }

  /** Calls the listener when there is news, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Yields a response for each folder, under the name that it has now. One that was deleted has no entries any more. */
  async *report(form: TextForm): Chunks {
    if (this.#names.size === 0) return undefined;
    const changed = Map.groupBy(this.#names.values(), ({ folderId }) => folderId);
    this.#names.clear();
    const responses = new Responses();
    for (const [folderId, names] of changed) {
      const mailbox =
        folderId === SERVER ? '' : (await findFolderById(this.#account.db.read, folderId))?.name;
      if (mailbox === undefined) continue;
      const entries = names.map(({ entry }) => entry);
      responses.add(writeMetadataNames(mailbox, entries, form));
    }
    yield* responses.take();
    return undefined;
  }

  #note({ folderId = SERVER, entries, origin }: MetadataChange): void {
    if (origin === this) return;
    for (const entry of entries) {
      const key = `${folderId} ${entry.toLowerCase()}`;
      this.#names.delete(key);
      this.#names.set(key, { folderId, entry });
    }
    for (const key of this.#names.keys()) {
      if (this.#names.size <= MAX_NAMES) break;
      this.#names.delete(key);
    }
    for (const listener of [...this.#listeners]) listener();
  }
}
