/** The data dictionary: the people who log in to the dashboard. The conventions are those of tables.ts, which lists every table. */
import {
  belongsTo,
  bytes,
  clusteredTable,
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
  unique,
} from './table.ts';

/** Written by dashboard/people/store.ts. */
export const people = table({
  id: key(id('per')),
  /** Address in lower case, by which the person logs in. */
  email: unique(text()),
  name: text(),
  /** Argon2id hash in the PHC string format; empty for a person who logs in otherwise, which no password matches. */
  passwordHash: text(),
  /** Sealed secret of the one-time codes (RFC 6238); null while the person uses none. */
  totpSealed: nullable(text()),
  /** Time step of the last code that was accepted: no code is accepted twice. */
  totpStep: initially(0, integer()),
  /** True for the operator of the installation. */
  isOperator: flag(),
  /** Language of the pages, such as `de`; null follows the browser. */
  language: nullable(text()),
  /** IANA name of the zone in which times are shown; null shows them in UTC. */
  timeZone: nullable(text()),
  createdAt: integer(),
});
export type PersonRow = Row<typeof people>;

/** `viewer` reads, `admin` also changes and sends, and `owner` also decides who else may. */
export type Role = 'owner' | 'admin' | 'viewer';

/** Written by dashboard/people/memberships-store.ts: the tenants of each person. */
export const memberships = clusteredTable({
  tenantId: key(references('tenants', id('ten'))),
  personId: key(belongsTo('people', id('per'))),
  role: text<Role>(),
  createdAt: integer(),
}).indexedBy({ membershipsByPerson: '(personId)' });
export type MembershipRow = Row<typeof memberships>;

/**
 * `second_factor`: the password was right, and the code is still to come. `set_up`: an invited person has chosen a password, and is asked for an
 * authenticator app.
 */
export type SessionStage = 'second_factor' | 'set_up' | 'complete';

/** Written by dashboard/people/sessions-store.ts. A session is of a person, or of the owner of a mailbox. */
export const dashboardSessions = table({
  id: key(id('ses')),
  /** SHA-256 hash of the token in the cookie, in hex. */
  tokenHash: unique(text()),
  personId: nullable(belongsTo('people', id('per'))),
  mailboxId: nullable(belongsTo('mailboxes', id('mbx'))),
  /** Digest of the hash of the mailbox's password, with which its owner has logged in; null for a person. */
  passwordDigest: nullable(text()),
  stage: text<SessionStage>(),
  /** IP address and User-Agent of the login, for the list of sessions. */
  address: text(),
  userAgent: text(),
  createdAt: integer(),
  lastUsedAt: integer(),
  expiresAt: integer(),
}).indexedBy({
  dashboardSessionsByPerson: '(personId, id)',
  dashboardSessionsByMailbox: '(mailboxId, id)',
  dashboardSessionsByExpiry: '(expiresAt)',
});
export type SessionRow = Row<typeof dashboardSessions>;

/** `set_up` makes the first operator, `invitation` a member of a tenant or another operator, and `recovery` sets a new password. */
export type LoginLinkKind = 'set_up' | 'invitation' | 'recovery';

/** Written by dashboard/people/links-store.ts: links that let somebody in once. */
export const loginLinks = table({
  id: key(id('lnk')),
  /** SHA-256 hash of the token in the link, in hex. */
  tokenHash: unique(text()),
  kind: text<LoginLinkKind>(),
  /** Address of the invited person; null when the person chooses it. */
  email: nullable(text()),
  /** The tenant that the person becomes a member of, with its role; both are null for an operator alone. */
  tenantId: nullable(references('tenants', id('ten'))),
  role: nullable(text<Role>()),
  isOperator: flag(),
  /** The person whose password is set anew; null for the other kinds. */
  personId: nullable(belongsTo('people', id('per'))),
  /** Shows who has made the link. */
  madeBy: text(),
  createdAt: integer(),
  expiresAt: integer(),
  usedAt: nullable(integer()),
  /** The person whose right the link has, also when it is used; null for the command line. */
  makerId: nullable(id('per')),
}).indexedBy({
  loginLinksByTenant: '(tenantId, id)',
  loginLinksByExpiry: '(expiresAt)',
});
export type LoginLinkRow = Row<typeof loginLinks>;

/** Written by dashboard/people/recovery-store.ts: codes that each replace one code of the authenticator. */
export const recoveryCodes = clusteredTable({
  personId: key(belongsTo('people', id('per'))),
  /** SHA-256 hash of the code, in hex. Codes are random, so that no slow hash is needed. */
  codeHash: key(text()),
});
export type RecoveryCodeRow = Row<typeof recoveryCodes>;

/** Written by dashboard/people/passkeys-store.ts: credentials of WebAuthn, with which people log in. */
export const passkeys = table({
  id: key(id('psk')),
  personId: belongsTo('people', id('per')),
  /** Id that the authenticator has given the credential, in base64url. */
  credentialId: unique(text()),
  /** Public key in the format of COSE. */
  publicKey: bytes(),
  /** Counter of signatures at the last use; 0 for an authenticator that does not count. */
  counter: integer(),
  /** Ways to reach the authenticator, such as `internal`, as a JSON array, which the browser asks for. */
  transports: text(),
  name: text(),
  createdAt: integer(),
  lastUsedAt: nullable(integer()),
}).indexedBy({ passkeysByPerson: '(personId, id)' });
export type PasskeyRow = Row<typeof passkeys>;

/** Written by dashboard/people/openid-store.ts: the account of a person at an issuer of OpenID Connect. */
export const issuerSubjects = clusteredTable({
  personId: key(belongsTo('people', id('per'))),
  issuer: key(text()),
  /** Id of the account, which the issuer gives to nobody else. Addresses it may give again. */
  subject: text(),
}).indexedBy({ issuerSubjectsBySubject: 'UNIQUE (issuer, subject)' });
export type IssuerSubjectRow = Row<typeof issuerSubjects>;

/**
 * Written by dashboard/drafts/store.ts: what people have entered in forms that were not sent. A draft is of a person, or of the owner of a
 * mailbox.
 */
export const drafts = table({
  id: key(id('dft')),
  personId: nullable(belongsTo('people', id('per'))),
  mailboxId: nullable(belongsTo('mailboxes', id('mbx'))),
  /** Address of the page, with its query. */
  address: text(),
  /** Name of the form's action. */
  action: text(),
  /** Sealed fields of the form, as JSON. */
  sealed: text(),
  createdAt: integer(),
}).indexedBy({
  draftsByPerson: '(personId, address)',
  draftsByMailbox: '(mailboxId, address)',
});
export type DraftRow = Row<typeof drafts>;

/**
 * Written by dashboard/sent-forms/store.ts: forms that were sent, each of which runs once. A form is of a person, or of the owner of a mailbox.
 */
export const sentForms = table({
  id: key(id('frm')),
  /** SHA-256 hash, in hex, of the owner and of the form with its key, which is random. */
  hash: unique(text()),
  personId: nullable(belongsTo('people', id('per'))),
  mailboxId: nullable(belongsTo('mailboxes', id('mbx'))),
  /**
   * JSON of where the answer has led; an empty object for another answer. Null until the form has run; for ever when the daemon has ended
   * before.
   */
  answer: nullable(text()),
}).indexedBy({
  sentFormsByPerson: '(personId, id)',
  sentFormsByMailbox: '(mailboxId, id)',
});
export type SentFormRow = Row<typeof sentForms>;

/**
 * `done`, `refused` with a reason that the person was told, or `failed` by a fault. `counted` is a row that counts what was done again and again,
 * whose outcomes are not kept.
 */
export type AuditOutcome = 'done' | 'refused' | 'failed' | 'counted';

/**
 * Written by dashboard/audit/store.ts. Rows are appended, and triggers (audit-guards.ts) refuse every other change than those that are named
 * there. Rows stay when the person is deleted.
 */
export const auditEntries = table({
  id: key(id('adt')),
  at: integer(),
  /** The tenant of the change; null for a change of the installation. */
  tenantId: nullable(id('ten')),
  personId: nullable(id('per')),
  /** Name and address of the person at that time, or what else has made the change. */
  actor: text(),
  /** IP address of the person. */
  address: text(),
  /** Page and name of the action, such as `POST /emails/:id cancel`. */
  action: text(),
  /** What it was done to, such as an id. */
  target: text(),
  mode: nullable(text<'live' | 'test'>()),
  /** The fields of the form that the action logs, ids and settings, as JSON. */
  details: text(),
  /** The mailbox whose owner has made the change; null for a person. */
  mailboxId: nullable(id('mbx')),
  /** Number of times that it was done: a row counts once somebody has done very much in a day. */
  times: initially(1, integer()),
  /** Null until the action has ended; for ever when the daemon has ended before. */
  outcome: nullable(text<AuditOutcome>()),
}).indexedBy({
  auditByTenant: '(tenantId, id)',
  auditByPerson: '(personId, id)',
  auditByMailbox: '(mailboxId, id)',
});
export type AuditRow = Row<typeof auditEntries>;
