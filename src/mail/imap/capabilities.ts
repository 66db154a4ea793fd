/**
 * Capabilities that the server advertises (RFC 9051 section 6.1.1). The list is the same before login and after it, because iOS decides
 * by what it sees first. A capability joins this list when the server and every session fulfil it.
 */
import type { Privacy } from '../access/privacy.ts';
import type { ChannelBinding } from '../sasl/channel-binding.ts';
import { offeredMechanisms } from '../sasl/mechanisms.ts';

/** Not offered on a connection that is compressed (RFC 4978). */
export const COMPRESS_DEFLATE = 'COMPRESS=DEFLATE';

/** Maximum size of a message in all mailboxes. It is advertised with its value (RFC 7889 section 2). */
const APPEND_LIMIT = 'APPENDLIMIT';

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
  'REPLACE',
  'SPECIAL-USE',
  'CREATE-SPECIAL-USE',
  'LIST-EXTENDED',
  'LIST-STATUS',
  'STATUS=SIZE',
  'CONDSTORE',
  'QRESYNC',
  'ESEARCH',
  'SEARCHRES',
  'PARTIAL',
  'WITHIN',
  'I18NLEVEL=1',
  'SORT',
  'SORT=DISPLAY',
  'ESORT',
  'CONTEXT=SEARCH',
  'CONTEXT=SORT',
  'THREAD=ORDEREDSUBJECT',
  'THREAD=REFERENCES',
  'BINARY',
  'MULTIAPPEND',
  'CATENATE',
  APPEND_LIMIT,
  'QUOTA',
  'QUOTA=RES-STORAGE',
  'METADATA',
  'NOTIFY',
  'OBJECTID',
  'PREVIEW',
  'SAVEDATE',
  'UTF8=ACCEPT',
  'INPROGRESS',
  COMPRESS_DEFLATE,
] as const;

/** Capabilities without which no client can log in and read mail. */
const NEEDED: readonly string[] = ['IMAP4rev1'];

/** Returns true for a capability, in upper case, that a user may be without. */
export function isOptionalCapability(name: string): boolean {
  return EXTENSIONS.some((known) => known.toUpperCase() === name && !NEEDED.includes(known));
}

type EarlyConnection = Privacy & {
  binding: ChannelBinding | undefined;
  /** Maximum size of a message. */
  messageBytes: number;
};

/** Returns the capabilities of a connection without a login. */
export function earlyCapabilities({ isPrivate, offersTls, binding, messageBytes }: EarlyConnection): string {
  const login = isPrivate ? offeredMechanisms(binding).map((name) => `AUTH=${name}`) : ['LOGINDISABLED'];
  return [...advertised(EXTENSIONS, messageBytes), ...(offersTls ? ['STARTTLS'] : []), ...login].join(' ');
}

/** Returns the capabilities of a user. `messageBytes` is the maximum size of a message. */
export function capabilitiesOf(
  user: { disabledCapabilities: readonly string[] },
  messageBytes: number,
): string {
  const offered = EXTENSIONS.filter((name) => !user.disabledCapabilities.includes(name.toUpperCase()));
  return advertised(offered, messageBytes).join(' ');
}

function advertised(names: readonly string[], messageBytes: number): string[] {
  return names.map((name) => (name === APPEND_LIMIT ? `${name}=${messageBytes}` : name));
}
