/**
 * Delivers accepted mail to an account. A delivery that is repeated after a crash changes nothing, because the account keeps the
 * ids of deliveries. No quota applies: the mail was accepted.
 */
import { defineWrite } from '../db/operation.ts';
import type { OpenAccount } from './account.ts';
import { type Addition, addInWrite, type Committed, publishAdded, settle } from './add.ts';
import type { PreparedContent } from './content.ts';
import { insertDelivery } from './delivery-store.ts';
import { findFolderByName, findFolderBySpecialUse } from './folder-store.ts';
import { INBOX } from './folders.ts';
import type { AccountTx } from './store.ts';

type FolderChoice = { name: string } | { specialUse: string };

type Delivery = {
  /** Id that is the same for every attempt of this delivery, and that no other one has. */
  deliveryId: string;
  /** Id that several deliveries of the message share, of which a folder stores the first one. */
  sharedId?: string;
  /** The folder by its name, or by a special use such as `\Junk`. INBOX by default, and when there is no such folder. */
  folder?: FolderChoice;
  content: PreparedContent;
  /** Header fields of this recipient, in front of the content, each with its CRLF. */
  prefix: Uint8Array;
  /** Bits of system flags, and sorted keywords, if there are any (`readFlags`). */
  flags: number;
  keywords?: readonly string[];
  /** Time of arrival, which becomes the internal date. */
  receivedAt: number;
};

/** A delivery that was stored before is `known`. */
type Delivered = { folderId: number; uid: number; isKnown: false } | { isKnown: true };

type DeliveryInput = Omit<Delivery, 'content' | 'prefix' | 'flags' | 'keywords' | 'receivedAt'> &
  Omit<Addition, 'folder'> & { now: number };

const insertDelivered = defineWrite(
  'account.deliver',
  async (
    tx: AccountTx,
    { deliveryId, sharedId, folder = { name: INBOX }, messages, now }: DeliveryInput,
  ): Promise<Committed | { isKnown: true }> => {
    if (!(await insertDelivery(tx, { id: deliveryId, at: now }))) return { isKnown: true };
    const found =
      'name' in folder
        ? await findFolderByName(tx, folder.name)
        : await findFolderBySpecialUse(tx, folder.specialUse);
    const name = found?.name ?? INBOX;
    // A message is filed into a folder once (RFC 5228 section 2.10.3).
    if (sharedId !== undefined && !(await insertDelivery(tx, { id: `${sharedId}/in/${name}`, at: now })))
      return { isKnown: true };
    return addInWrite(tx, { folder: name, messages, now });
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-delivery-before-commit',
      afterCommit: 'mailbox-delivery-after-commit',
    },
  },
);

/**
 * Stores a message once. The content is used up: it is stored, or discarded.
 * @throws AppError unavailable when the disk is full; DamagedDatabaseError
 */
export async function deliver(
  account: OpenAccount,
  { deliveryId, sharedId, folder, content, prefix, flags, keywords = [], receivedAt }: Delivery,
): Promise<Delivered> {
  const internalDate = { atMs: receivedAt, zoneMinutes: 0 };
  const messages = [{ content, flags, keywords, internalDate, prefix }];
  const input: DeliveryInput = {
    deliveryId,
    messages,
    now: account.app.clock.now(),
    ...(folder !== undefined && { folder }),
    ...(sharedId !== undefined && { sharedId }),
  };
  const committed = await settle(account, [content], () =>
    account.db.commit(insertDelivered, input, (result) => {
      if (!('isKnown' in result)) publishAdded(account, result);
    }),
  );
  if ('isKnown' in committed) return committed;
  if ('refused' in committed) throw new Error('the account has no INBOX');
  const [uid = 0] = committed.uids;
  return { folderId: committed.folderId, uid, isKnown: false };
}
