/**
 * Answers from memory what each message asks about its writer: whether the login still stands, whose an address is, and whether its domain may
 * send. A query instead would read its pages again after each message that is committed.
 */
import type { App } from '../app.ts';
import { AnswerCache } from '../db/answer-cache.ts';
import type { AppPasswordRow, MailboxRow } from '../db/mailbox-tables.ts';
import { getSendingDomain, type SenderDomain } from '../domains/sender.ts';
import { findDomainByName } from '../domains/sending-store.ts';
import { type AddressOwner, findAddressOwner } from '../mailboxes/addresses/store.ts';
import { findAppPasswordById } from '../mailboxes/app-passwords/store.ts';
import { type LoginMark, type LoginRefusal, renewFromRows } from '../mailboxes/credential.ts';
import { mayUseOwned } from '../mailboxes/sender-addresses.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { domainOf } from './user.ts';

/** Identifies a mailbox. */
type Mailbox = Pick<MailboxRow, 'id' | 'domain'>;
type NamedDomain = Awaited<ReturnType<typeof findDomainByName>>;

export type KnownSenders = {
  /** Returns the reason why a login of a mailbox does not stand any more; undefined while it stands. */
  findLoginEnd(mailbox: Mailbox, mark: LoginMark): Promise<LoginRefusal | undefined>;
  /** Returns true when the owner of a mailbox may write from an address (mailboxes/sender-addresses.ts). */
  mayUseAddress(mailbox: Mailbox, address: string): Promise<boolean>;
  /**
   * Returns the id of the domain of this tenant, whose key signs the mail of a mailbox.
   * @throws AppError domain_not_verified
   */
  getDomainId(tenantId: MailboxRow['tenantId'], domain: string): Promise<SenderDomain['domainId']>;
};

/** Maximum number of cached answers of each kind: a few MB, and for the mailboxes about 10 MB. */
const MAX_CACHED = 10_000;

/** Returns the answers without any. They are never older than what the last commit has changed. */
export function createKnownSenders(app: Pick<App, 'db' | 'clock' | 'config'>): KnownSenders {
  const { changes, read } = app.db;
  const options = { changes, maxSize: MAX_CACHED, sizeOf: () => 1, rowKeyOf };
  const mailboxes = new AnswerCache<string, MailboxRow | undefined>({ ...options, tables: ['mailboxes'] });
  const appPasswords = new AnswerCache<string, AppPasswordRow | undefined>({
    ...options,
    tables: ['appPasswords'],
  });
  const owners = new AnswerCache<string, AddressOwner | undefined>({
    ...options,
    tables: ['mailboxes', 'mailboxAliases'],
  });
  // The columns that say whether a domain may send are watched, and no others are used.
  const domains = new AnswerCache<string, NamedDomain>({ ...options, tables: ['domains'] });

  async function findOwnMailbox({ id, domain }: Mailbox): Promise<MailboxRow | undefined> {
    const row = await mailboxes.get(`${domain} ${id}`, () => findMailboxById(read, id));
    // Changes of a mailbox that has moved to another domain count for that domain alone.
    return row === undefined || row.domain === domain ? row : await findMailboxById(read, id);
  }

  return {
    async findLoginEnd({ id: ownId, domain }, mark) {
      const rows = {
        // The mailbox of a member may be at another domain.
        findMailbox: (id: MailboxRow['id']) =>
          id === ownId ? findOwnMailbox({ id, domain }) : findMailboxById(read, id),
        findAppPassword: (id: AppPasswordRow['id']) =>
          appPasswords.get(`${ownId} ${id}`, () => findAppPasswordById(read, id)),
      };
      const renewed = await renewFromRows(rows, mark, app.clock.now());
      return 'refused' in renewed ? renewed.refused : undefined;
    },
    mayUseAddress: (mailbox, address) =>
      mayUseOwned(read, mailbox, {
        address,
        findOwner: (key) => owners.get(`${domainOf(key)} ${key}`, () => findAddressOwner(read, key)),
      }),
    async getDomainId(tenantId, domain) {
      const find = () => domains.get(`${domain} ${tenantId}`, () => findDomainByName(read, tenantId, domain));
      const sender = { tenantId, mode: 'live', domain, simulatorOnly: false } as const;
      return (await getSendingDomain(app, sender, find)).domainId;
    },
  };
}

/** The keys of answers begin with the key of the rows that they come from, which has no space. */
function rowKeyOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
