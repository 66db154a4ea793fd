/** The ids by which a mailbox knows for ever which messages of other servers it has imported. */
import { hash } from 'node:crypto';

/** The user of a server whose mail is imported. */
type SourceIdentity = { host: string; user: string };

export type SourceIds = {
  /** Returns the key of a folder, whatever its UIDVALIDITY is. */
  folderKey(path: string): string;
  /** Returns the id of a message by its UID in a folder. */
  byUid(folder: { path: string; uidValidity: string }, uid: number): string;
  /** Returns the id of a message that has the same id in all folders. */
  byLabelledId(labelledId: string): string;
  /** Returns the id of a message by its content, for a folder whose UIDs have changed. */
  byContent(path: string, contentSha256: string): string;
};

/** Returns the ids of the messages of a user. A user of another server, and another user, has other ids. */
export function createSourceIds({ host, user }: SourceIdentity): SourceIds {
  const idOf = (...parts: readonly (string | number)[]) =>
    `imap/${hash('sha256', JSON.stringify([host, user, ...parts]), 'hex')}`;
  return {
    folderKey: (path) => idOf('folder', path),
    byUid: ({ path, uidValidity }, uid) => idOf('uid', path, uidValidity, uid),
    byLabelledId: (labelledId) => idOf('label', labelledId),
    byContent: (path, contentSha256) => idOf('content', path, contentSha256),
  };
}
