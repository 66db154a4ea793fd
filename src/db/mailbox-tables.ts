/** The data dictionary: mailboxes of people. The conventions are those of tables.ts, which lists every table. */

import {
  belongsTo,
  clusteredTable,
  count,
  flag,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  references,
  table,
  text,
} from './table.ts';

/** Written by mailboxes/store.ts. Live and test keys share them. The messages are in a folder and a database of each mailbox. */
export const mailboxes = table({
  id: key(id('mbx')),
  tenantId: references('tenants', id('ten')),
  /** Address as `addressKey`, by which its owner logs in. No two tenants have the same. */
  address: text(),
  /** Domain of the address, in lower case and A-labels: one of the tenant, or the sandbox domain. */
  domain: text(),
  displayName: nullable(text()),
  /** A `shared` mailbox has members and no password. */
  kind: initially('personal', text<'personal' | 'shared'>()),
  /** Hash of the password (mailboxes/passwords/hash.ts). */
  passwordHash: text(),
  /** 0 when only app passwords open the mailbox. */
  passwordLogin: initially(1, flag()),
  /** Verifier of the password for SCRAM, as JSON; null when SCRAM does not work with it. */
  scramVerifier: nullable(text()),
  /** Salt of all SCRAM verifiers of the mailbox, in hex. It never changes. */
  scramSalt: initially('', text()),
  /** Maximum size of the stored messages. */
  quotaBytes: integer(),
  /** A `suspended` mailbox takes no mail, and nobody may log in. A `damaged` one waits for its repair. */
  status: text<'active' | 'suspended' | 'damaged'>(),
  /** Size and number of the messages when they were last recorded, which is a few seconds after they change. */
  usedBytes: integer(),
  messageCount: integer(),
  /**
   * Number of the last change in the database of the mailbox when it was last recorded; 0 before that database was made. A database with
   * a lower number is an older copy.
   */
  lastModseq: count(),
  lastLoginAt: nullable(integer()),
  /** JSON list of the IMAP capabilities that this mailbox is not offered. */
  disabledCapabilities: text(),
  createdAt: integer(),
  updatedAt: integer(),
  /** 1 when the owner may set a new password by a link to an address outside. */
  passwordRecovery: initially(1, flag()),
  /** IANA name of the zone in which the owner sees times; null shows them in UTC. */
  timeZone: nullable(text()),
}).indexedBy({
  mailboxesByAddress: 'UNIQUE (address)',
  mailboxesByTenant: '(tenantId, id)',
  mailboxesByDomain: '(tenantId, domain, id)',
  mailboxesOfName: '(domain)',
});
export type MailboxRow = Row<typeof mailboxes>;

/** Written by mailboxes/addresses/store.ts: another address whose mail goes to a mailbox. No two mailboxes of any tenant have the same
 * address, whether it is their own or an alias. */
export const mailboxAliases = clusteredTable({
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain that nothing else receives for. */
  address: key(text()),
  /** Domain of the address, in lower case and A-labels. */
  domain: text(),
  mailboxId: references('mailboxes', id('mbx')),
  /** Tenant of the mailbox. */
  tenantId: references('tenants', id('ten')),
}).indexedBy({
  mailboxAliasesByMailbox: '(mailboxId, address)',
  mailboxAliasesByDomain: '(domain)',
  mailboxAliasesByTenant: '(tenantId)',
});
export type MailboxAliasRow = Row<typeof mailboxAliases>;

/** Written by mailboxes/scripts/store.ts: a Sieve script of a mailbox. The key is the mailbox with the name. */
export const mailboxScripts = clusteredTable({
  mailboxId: key(references('mailboxes', id('mbx'))),
  /** Name in the octets that the owner wrote. */
  name: key(text()),
  content: text(),
  /** Size of the content in UTF-8. */
  sizeBytes: integer(),
  /** 1 for the script that runs when mail is delivered. A mailbox has at most one. */
  isActive: flag(),
  updatedAt: integer(),
}).indexedBy({
  mailboxScriptsActive: 'UNIQUE (mailboxId) WHERE isActive = 1',
});
export type MailboxScriptRow = Row<typeof mailboxScripts>;

/** Written by mailboxes/scripts/memory-store.ts: something that the scripts of a mailbox have done or seen, so that they do not repeat it. */
export const scriptMemories = clusteredTable({
  mailboxId: key(references('mailboxes', id('mbx'))),
  /** Hash of what is remembered, such as a reply and its recipient. */
  key: key(text()),
  /** The delivery that has added the row: when it runs again after a crash, the row is not news to it. */
  claimedBy: text(),
  expiresAt: integer(),
}).indexedBy({
  scriptMemoriesByExpiry: '(expiresAt)',
  scriptMemoriesByMailbox: '(mailboxId, expiresAt)',
});
export type ScriptMemoryRow = Row<typeof scriptMemories>;

/** Written by mailboxes/app-passwords/store.ts. A row is deleted when it is revoked, and with its mailbox. */
export const appPasswords = table({
  id: key(id('apw')),
  tenantId: references('tenants', id('ten')),
  mailboxId: belongsTo('mailboxes', id('mbx')),
  /** The mailbox of the member that has it, for a shared mailbox; null for a personal one. */
  memberId: belongsTo('mailboxes', nullable(id('mbx'))),
  name: text(),
  /** JSON list of the protocols (accounts/protocols.ts) in which it is valid. */
  protocols: text(),
  /** JSON list of the addresses and CIDR blocks from which it may be used; null allows every address. */
  allowedIps: nullable(text()),
  /** The first 8 characters, by which it is found. */
  hint: text(),
  /** SHA-256 hash of the password without its hyphens, in hex. */
  secretHash: text(),
  /** JSON list of the verifiers for SCRAM: of the password as it is shown, and without its hyphens. */
  scramVerifiers: text(),
  createdAt: integer(),
  lastUsedAt: nullable(integer()),
  expiresAt: nullable(integer()),
}).indexedBy({
  appPasswordsByMailbox: '(mailboxId, id)',
  appPasswordsByHint: '(hint)',
  appPasswordsByMember: '(memberId) WHERE memberId IS NOT NULL',
});
export type AppPasswordRow = Row<typeof appPasswords>;

/** Written by mailboxes/filters/store.ts: what a mailbox does with its mail by itself. A mailbox that only stores its mail has no row. */
export const mailboxFilters = clusteredTable({
  mailboxId: key(references('mailboxes', id('mbx'))),
  /** JSON of `Filters` (mailboxes/filters/schemas.ts). */
  filters: text(),
  /** Sieve script that the filters have become, which runs before that of the owner; empty for filters that only store mail. */
  script: text(),
});
export type MailboxFilterRow = Row<typeof mailboxFilters>;

/** Written by mailboxes/member-store.ts: the owner of a personal mailbox uses a shared one. */
export const mailboxMembers = clusteredTable({
  mailboxId: key(belongsTo('mailboxes', id('mbx'))),
  memberId: key(belongsTo('mailboxes', id('mbx'))),
}).indexedBy({
  mailboxMembersByMember: '(memberId)',
});
export type MailboxMemberRow = Row<typeof mailboxMembers>;

/**
 * Written by mailboxes/recovery/store.ts: the address outside to which the owner of a mailbox gets a link for a new password,
 * with the last link that was mailed there.
 */
export const mailboxRecoveries = clusteredTable({
  mailboxId: key(belongsTo('mailboxes', id('mbx'))),
  address: text(),
  createdAt: integer(),
  /** Time at which its reader has confirmed the address; null before. Only a confirmed address gets links for a new password. */
  confirmedAt: nullable(integer()),
  /** SHA-256 hash of the token in the link, in hex; null when no link is open. */
  linkHash: nullable(text()),
  linkExpiresAt: nullable(integer()),
}).indexedBy({ mailboxRecoveriesByLink: 'UNIQUE (linkHash)' });
export type MailboxRecoveryRow = Row<typeof mailboxRecoveries>;

/** Written by mailbox-imports/store.ts: an import of mail from another server. It is deleted 30 days after its end, and with its mailbox. */
export const mailboxImports = table({
  id: key(id('mim')),
  tenantId: references('tenants', id('ten')),
  mailboxId: belongsTo('mailboxes', id('mbx')),
  /** Name of the server, as a certificate must name it. */
  host: text(),
  port: integer(),
  /** `tls`: from the first octet on; `starttls`: after STARTTLS, without which nothing is sent. */
  security: text<'tls' | 'starttls'>(),
  user: text(),
  /** Sealed with the tenant and the id; null once the import has ended. */
  password: nullable(text()),
  status: text<'queued' | 'running' | 'completed' | 'failed'>(),
  /** Why it has failed, for programs. */
  reason: nullable(
    text<
      | 'mailbox_full'
      | 'mailbox_suspended'
      | 'login_refused'
      | 'source_refused'
      | 'source_unavailable'
      | 'internal'
    >(),
  ),
  /** Why it has failed, or why it waits for another attempt. */
  error: nullable(text()),
  /** JSON of `ImportCounts` (mailbox-imports/counts.ts). */
  progress: text(),
  createdAt: integer(),
  startedAt: nullable(integer()),
  finishedAt: nullable(integer()),
}).indexedBy({
  mailboxImportsByMailbox: '(mailboxId, id)',
  mailboxImportsByEnd: '(finishedAt) WHERE finishedAt IS NOT NULL',
});
export type MailboxImportRow = Row<typeof mailboxImports>;

/** Written by mailbox-imports/error-store.ts: a message, or a whole folder where the UID is 0, that could not be imported. */
export const mailboxImportErrors = clusteredTable({
  importId: key(belongsTo('mailboxImports', id('mim'))),
  /** Name of the folder on the other server. */
  folder: key(text()),
  uid: key(integer()),
  message: text(),
});
export type MailboxImportErrorRow = Row<typeof mailboxImportErrors>;

/** Written by mailbox-imports/folder-store.ts: a folder of another server of which a mailbox may have messages. */
export const mailboxImportFolders = clusteredTable({
  mailboxId: key(belongsTo('mailboxes', id('mbx'))),
  /** Hash of the server, the user and the folder. */
  folderKey: key(text()),
  /** UIDVALIDITY (RFC 9051 section 2.3.1.1) when the folder was last read, as decimal digits. */
  uidValidity: text(),
  /** 1 when the folder has had another UIDVALIDITY: a message with an unknown UID may have been imported before. */
  mayRepeat: flag(),
});
export type MailboxImportFolderRow = Row<typeof mailboxImportFolders>;
