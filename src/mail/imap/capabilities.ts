/**
 * Capabilities that the server advertises (RFC 9051 section 6.1.1). The list is the same before login and after it, because iOS decides by what
 * it sees first. A capability joins this list when the server and every session fulfil it.
 */

/** Not offered on a connection that is compressed (RFC 4978). */
export const COMPRESS_DEFLATE = 'COMPRESS=DEFLATE';

const EXTENSIONS = [
  'IMAP4rev1',
  'IMAP4rev2',
  'LITERAL+',
  'SASL-IR',
  'ID',
  'ENABLE',
  'IDLE',
  'NAMESPACE',
  'CHILDREN',
  'UNSELECT',
  'UIDPLUS',
  'MOVE',
  'SPECIAL-USE',
  'CREATE-SPECIAL-USE',
  'LIST-EXTENDED',
  'LIST-STATUS',
  'STATUS=SIZE',
  'CONDSTORE',
  'QRESYNC',
  'ESEARCH',
  'SEARCHRES',
  'WITHIN',
  'I18NLEVEL=1',
  'SORT',
  'SORT=DISPLAY',
  'ESORT',
  'THREAD=ORDEREDSUBJECT',
  'THREAD=REFERENCES',
  'BINARY',
  'MULTIAPPEND',
  'QUOTA',
  'QUOTA=RES-STORAGE',
  'OBJECTID',
  'PREVIEW',
  'SAVEDATE',
  'UTF8=ACCEPT',
  COMPRESS_DEFLATE,
] as const;

/** Capabilities without which no client can log in and read mail. */
const NEEDED: readonly string[] = ['IMAP4rev1'];

/** Returns true for a capability, in upper case, that a user may be without. */
export function isOptionalCapability(name: string): boolean {
  return EXTENSIONS.some((known) => known.toUpperCase() === name && !NEEDED.includes(known));
}

export type Privacy = {
  /** The connection is encrypted, or nobody can listen to it. */
  isPrivate: boolean;
  /** The client can encrypt the connection. */
  offersTls: boolean;
};

/** Returns the capabilities of a connection without a login. */
export function earlyCapabilities({ isPrivate, offersTls }: Privacy): string {
  const login = isPrivate ? ['AUTH=PLAIN', 'AUTH=LOGIN'] : ['LOGINDISABLED'];
  return [...EXTENSIONS, ...(offersTls ? ['STARTTLS'] : []), ...login].join(' ');
}

/** Returns the capabilities of a user. */
export function capabilitiesOf(user: { disabledCapabilities: readonly string[] }): string {
  return EXTENSIONS.filter((name) => !user.disabledCapabilities.includes(name.toUpperCase())).join(' ');
}
