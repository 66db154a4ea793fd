/** Finds the base subject, by which mailboxes are sorted and threaded (RFC 5256 section 2.1). */
import { decodeWords } from './decode-words.ts';

type BaseSubject = {
  text: string;
  /** True when something was removed that marks a reply or a forwarded message (RFC 5256 section 3, REFERENCES step 5). */
  isReply: boolean;
};

/** Maximum length of a subject that is read. Our own limit: nobody sorts by what follows. */
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
