/** The data dictionary: mailboxes of people. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by mailboxes/store.ts. Live and test keys share them. The messages are in a folder and a database of each mailbox. */
export type MailboxRow = {
  id: Id<'mbx'>;
  tenantId: Id<'ten'>;
  /** Address as `addressKey`, by which its owner logs in. No two tenants have the same. */
  address: string;
  /** Domain of the address, in lower case and A-labels: one of the tenant, or the sandbox domain. */
  domain: string;
  displayName: string | null;
  /** A `shared` mailbox has members and no password. */
  kind: 'personal' | 'shared';
  /** Hash of the password (mailboxes/passwords/hash.ts). */
  passwordHash: string;
  /** 0 when only app passwords open the mailbox. */
  passwordLogin: 0 | 1;
  /** Verifier of the password for SCRAM, as JSON; null when SCRAM does not work with it. */
  scramVerifier: string | null;
  /** Salt of all SCRAM verifiers of the mailbox, in hex. It never changes. */
  scramSalt: string;
  /** Maximum size of the stored messages. */
  quotaBytes: number;
  /** A `suspended` mailbox takes no mail, and nobody may log in. A `damaged` one waits for its repair. */
  status: 'active' | 'suspended' | 'damaged';
  /** Size and number of the messages when they were last recorded, which is a few seconds after they change. */
  usedBytes: number;
  messageCount: number;
  /**
   * Number of the last change in the database of the mailbox when it was last recorded; 0 before that database was made. A database with
   * a lower number is an older copy.
   */
  lastModseq: number;
  lastLoginAt: number | null;
  /** JSON list of the IMAP capabilities that this mailbox is not offered. */
  disabledCapabilities: string;
  createdAt: number;
  updatedAt: number;
};

/** Written by mailboxes/addresses/store.ts: another address whose mail goes to a mailbox. No two mailboxes of any tenant have the same
 * address, whether it is their own or an alias. */
export type MailboxAliasRow = {
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain that nothing else receives for. */
  address: string;
  /** Domain of the address, in lower case and A-labels. */
  domain: string;
  mailboxId: Id<'mbx'>;
  /** Tenant of the mailbox. */
  tenantId: Id<'ten'>;
};

/** Written by mailboxes/removal-store.ts: a deleted mailbox whose folder still has to be removed. */
export type MailboxRemovalRow = {
  mailboxId: Id<'mbx'>;
  /** Time of the next attempt, which is the end of the lease of a running one. */
  dueAt: number;
};

/** Written by mailboxes/scripts/store.ts: a Sieve script of a mailbox. The key is the mailbox with the name. */
export type MailboxScriptRow = {
  mailboxId: Id<'mbx'>;
  /** Name in the octets that the owner wrote. */
  name: string;
  content: string;
  /** Size of the content in UTF-8. */
  sizeBytes: number;
  /** 1 for the script that runs when mail is delivered. A mailbox has at most one. */
  isActive: 0 | 1;
  updatedAt: number;
};

/** Written by mailboxes/scripts/memory-store.ts: something that the scripts of a mailbox have done or seen, so that they do not repeat it. */
export type ScriptMemoryRow = {
  mailboxId: Id<'mbx'>;
  /** Hash of what is remembered, such as a reply and its recipient. */
  key: string;
  /** The delivery that has added the row: when it runs again after a crash, the row is not news to it. */
  claimedBy: string;
  expiresAt: number;
};

/** Written by mailboxes/app-passwords/store.ts. A row is deleted when it is revoked, and with its mailbox. */
export type AppPasswordRow = {
  id: Id<'apw'>;
  tenantId: Id<'ten'>;
  mailboxId: Id<'mbx'>;
  /** The mailbox of the member that has it, for a shared mailbox; null for a personal one. */
  memberId: Id<'mbx'> | null;
  name: string;
  /** JSON list of the protocols (accounts/protocols.ts) in which it is valid. */
  protocols: string;
  /** JSON list of the addresses and CIDR blocks from which it may be used; null allows every address. */
  allowedIps: string | null;
  /** The first 8 characters, by which it is found. */
  hint: string;
  /** SHA-256 hash of the password without its hyphens, in hex. */
  secretHash: string;
  /** JSON list of the verifiers for SCRAM: of the password as it is shown, and without its hyphens. */
  scramVerifiers: string;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
};

/** Written by mailboxes/filters/store.ts: what a mailbox does with its mail by itself. A mailbox that only stores its mail has no row. */
export type MailboxFilterRow = {
  mailboxId: Id<'mbx'>;
  /** JSON of `Filters` (mailboxes/filters/schemas.ts). */
  filters: string;
  /** Sieve script that the filters have become, which runs before that of the owner; empty for filters that only store mail. */
  script: string;
};

/** Written by mailboxes/members/store.ts: the owner of a personal mailbox uses a shared one. */
type MailboxMemberRow = { mailboxId: Id<'mbx'>; memberId: Id<'mbx'> };

/** Written by mailbox-imports/store.ts: an import of mail from another server. It is deleted 30 days after its end, and with its mailbox. */
export type MailboxImportRow = {
  id: Id<'mim'>;
  tenantId: Id<'ten'>;
  mailboxId: Id<'mbx'>;
  /** Name of the server, as a certificate must name it. */
  host: string;
  port: number;
  /** `tls`: from the first octet on; `starttls`: after STARTTLS, without which nothing is sent. */
  security: 'tls' | 'starttls';
  user: string;
  /** Sealed with the tenant and the id; null once the import has ended. */
  password: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed';
  /** Why it has failed, for programs. */
  reason:
    | 'mailbox_full'
    | 'mailbox_suspended'
    | 'login_refused'
    | 'source_refused'
    | 'source_unavailable'
    | 'internal'
    | null;
  /** Why it has failed, or why it waits for another attempt. */
  error: string | null;
  /** JSON of `ImportCounts` (mailbox-imports/counts.ts). */
  progress: string;
  /** Number of turns in a row that were interrupted and imported nothing. */
  failedTurns: number;
  /** Time of the next turn, which is the end of the lease of a running one; null once it has ended. */
  dueAt: number | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
};

/** Written by mailbox-imports/error-store.ts: a message, or a whole folder where the UID is 0, that could not be imported. */
export type MailboxImportErrorRow = {
  importId: Id<'mim'>;
  /** Name of the folder on the other server. */
  folder: string;
  uid: number;
  message: string;
};

/** Written by mailbox-imports/folder-store.ts: a folder of another server of which a mailbox may have messages. */
export type MailboxImportFolderRow = {
  mailboxId: Id<'mbx'>;
  /** Hash of the server, the user and the folder. */
  folderKey: string;
  /** UIDVALIDITY (RFC 9051 section 2.3.1.1) when the folder was last read, as decimal digits. */
  uidValidity: string;
  /** 1 when the folder has had another UIDVALIDITY: a message with an unknown UID may have been imported before. */
  mayRepeat: 0 | 1;
};

/** The tables of mailboxes. */
export type MailboxTables = {
  mailboxes: MailboxRow;
  mailboxAliases: MailboxAliasRow;
  mailboxRemovals: MailboxRemovalRow;
  mailboxFilters: MailboxFilterRow;
  mailboxScripts: MailboxScriptRow;
  scriptMemories: ScriptMemoryRow;
  appPasswords: AppPasswordRow;
  mailboxMembers: MailboxMemberRow;
  mailboxImports: MailboxImportRow;
  mailboxImportErrors: MailboxImportErrorRow;
  mailboxImportFolders: MailboxImportFolderRow;
};
