/** Values by which SORT and THREAD order messages (RFC 5256, RFC 5957). Texts are folded for comparison. */
import { parseSentDate, type SentDate } from '../date.ts';
import { type EnvelopeAddress, readAddressList } from './address-list.ts';
import { decodeWords } from './decode-words.ts';
import { foldText } from './fold.ts';
import { findValue, type HeaderField } from './header-block.ts';

export type SortKeys = {
  baseSubject: string;
  /** True when the subject is that of a reply or of a forwarded message. */
  isReply: boolean;
  /** Local part of the first address; empty when there is none (RFC 5256 section 3). */
  from: string;
  to: string;
  cc: string;
  /** Display name of the first address, or the address (RFC 5957 section 3). */
  displayFrom: string;
  displayTo: string;
  /** Date that the sender gave; null when it is not valid, and the internal date counts. */
  sent: SentDate | null;
};

export type ThreadKeys = {
  /** Message-ID without angle brackets; null when there is none. */
  messageId: string | null;
  /** Message ids of ancestors, the oldest first, without angle brackets. */
  references: string[];
};

/** Maximum number of references that are read, the newest ones. Few discussions are longer. */
export const MAX_REFERENCES = 1_000;
/** Maximum length of a key. Nobody sorts by what follows. */
const MAX_KEY_CHARACTERS = 1_000;

/** Returns the keys of a message for SORT. */
export function readSortKeys(fields: readonly HeaderField[]): SortKeys {
  const { text, isReply } = findBaseSubject(findValue(fields, 'subject') ?? '');
  const [from, to, cc] = ['from', 'to', 'cc'].map((name) => firstAddress(findValue(fields, name)));
  return {
    baseSubject: foldText(text),
    isReply,
    from: keyOf(from?.mailbox),
    to: keyOf(to?.mailbox),
    cc: keyOf(cc?.mailbox),
    displayFrom: keyOf(displayOf(from)),
    displayTo: keyOf(displayOf(to)),
    sent: parseSentDate(findValue(fields, 'date') ?? ''),
  };
}

function firstAddress(value = ''): EnvelopeAddress | undefined {
  return readAddressList(value, 1)[0];
}

function displayOf(address: EnvelopeAddress | undefined): string {
  if (!address) return '';
  const { name, mailbox, host } = address;
  return decodeWords(name ?? '') || (host === null ? (mailbox ?? '') : `${mailbox}@${host}`);
}

function keyOf(text: string | null | undefined): string {
  return foldText((text ?? '').slice(0, MAX_KEY_CHARACTERS));
}

/**
 * Returns the keys of a message for THREAD=REFERENCES. In-Reply-To counts, with its first id, when References has none (RFC 5256
 * section 3).
 */
export function readThreadKeys(fields: readonly HeaderField[]): ThreadKeys {
  const references = messageIds(findValue(fields, 'references'));
  const parents =
    references.length > 0 ? references : messageIds(findValue(fields, 'in-reply-to')).slice(0, 1);
  return {
    messageId: messageIds(findValue(fields, 'message-id'))[0] ?? null,
    references: parents.slice(-MAX_REFERENCES),
  };
}

const MESSAGE_ID = /<([^<>\s]{1,998})>/g;

/** Quoted and unquoted forms of an id are equal (RFC 5256 section 3, note on msg-id). */
function messageIds(value = ''): string[] {
  return [...value.matchAll(MESSAGE_ID)].map(([, id = '']) => id.replace(/\\(.)|"/g, '$1'));
}

type BaseSubject = {
  text: string;
  /** True when something was removed that marks a reply or a forwarded message (RFC 5256 section 3, REFERENCES step 5). */
  isReply: boolean;
};

/** Maximum length of a subject that is read. Nobody sorts by what follows. */
const MAX_SUBJECT_CHARACTERS = 2_048;

/** Matches `subj-blob` and `subj-refwd` (RFC 5256 section 5). */
const BLOB = /^\[[^[\]]*\][ \t]*/;
const LEADER = /^(?:\[[^[\]]*\][ \t]*)*(?:re|fwd?)[ \t]*(?:\[[^[\]]*\][ \t]*)?:/i;
/** Matches all trailers: a blob in front of them may be the whole subject. */
const FORWARDED_TRAILERS = /(?: ?\(fwd\))+$/i;
const FORWARDED = /^\[fwd:(.*)\]$/is;

/** Returns the base subject of a Subject field. */
export function findBaseSubject(subject: string): BaseSubject {
  let text = decodeWords(subject).slice(0, MAX_SUBJECT_CHARACTERS).replace(/\s+/g, ' ').trim();
  let isReply = false;
  for (;;) {
    const trailed = text.replace(FORWARDED_TRAILERS, '').trimEnd();
    const bare = dropPrefixes(trailed);
    const forwarded = FORWARDED.exec(bare.text)?.[1]?.trim();
    isReply ||= bare.isReply || forwarded !== undefined || trailed.length < text.length;
    const next = forwarded ?? bare.text;
    if (next === text) return { text, isReply };
    text = next;
  }
}

/** Removes what stands in front of the base subject. A blob stays when nothing else would be left. */
function dropPrefixes(subject: string): BaseSubject {
  let text = subject;
  let isReply = false;
  for (;;) {
    const leader = LEADER.exec(text)?.[0];
    const blob = leader === undefined ? BLOB.exec(text)?.[0] : undefined;
    if (leader === undefined && (blob === undefined || blob.length === text.length)) return { text, isReply };
    isReply ||= leader !== undefined;
    text = text.slice((leader ?? blob ?? '').length).trimStart();
  }
}
