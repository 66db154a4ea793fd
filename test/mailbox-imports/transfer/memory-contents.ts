/** Mailboxes in memory, for tests of what imports and exports them. */
import { readFileSync } from 'node:fs';
import type { MailboxContents, StoredMessage } from '../../../src/accounts/contents.ts';
import { notFound } from '../../../src/system/errors.ts';

export type MemoryContents = MailboxContents & {
  /** Messages by folder. */
  folders: Map<string, StoredMessage[]>;
  /** Sizes of the groups that were added. */
  groups: number[];
};

/** Returns one mailbox, which serves every id. Its INBOX is empty. */
export function memoryContents(): MemoryContents {
  const folders = new Map<string, StoredMessage[]>([['INBOX', []]]);
  const stored = new Set<string>();
  const groups: number[] = [];
  const folderOf = (name: string): StoredMessage[] => {
    const folder = folders.get(name) ?? [];
    folders.set(name, folder);
    return folder;
  };
  return {
    folders,
    groups,
    findMissing: async (_id, deliveryIds) => deliveryIds.filter((id) => !stored.has(id)),
    async remember(_id, deliveryIds) {
      for (const id of deliveryIds) stored.add(id);
    },
    async add(_id, { folder, messages }) {
      groups.push(messages.length);
      const to = folderOf(folder);
      let added = 0;
      for (const { deliveryId, otherIds = [], flags, receivedAt, content } of messages) {
        if (stored.has(deliveryId)) continue;
        for (const id of [deliveryId, ...otherIds]) stored.add(id);
        const bytes = 'path' in content ? readFileSync(content.path) : Buffer.from(content);
        to.push({ uid: to.length + 1, flags, receivedAt, content: bytes });
        added += 1;
      }
      return { added, withoutKeywords: 0 };
    },
    listFolders: async () =>
      [...folders].map(([name, messages], index) => ({
        name,
        uidValidity: 100 + index,
        messageCount: messages.length,
      })),
    async read(_id, { folder, afterUid, maxBytes }) {
      const messages = folders.get(folder);
      if (!messages) throw notFound('Folder');
      let bytes = 0;
      return messages.filter(({ uid, content }) => {
        if (uid <= afterUid || (bytes > 0 && bytes + content.length > maxBytes)) return false;
        bytes += content.length;
        return true;
      });
    },
  };
}
