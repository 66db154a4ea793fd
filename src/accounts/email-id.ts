/**
 * EMAILIDs (RFC 8474 section 5.1). That of a message with a content of its own names the content, whose index also finds the message. The
 * index of EMAILIDs has only those that say nothing: of drafts, whose ids are chosen before, and of messages from earlier versions.
 */
import { randomText } from '../system/ids.ts';

/** Matches an EMAILID that names its content. Those that say nothing begin with `M`. */
const NAMING = /^C([0-9a-z]{1,11})-[0-9a-z]{16}$/;
const RADIX = 36;

/** Returns the EMAILID of a new message with this content. */
export function emailIdOf(contentId: number): string {
  return `C${contentId.toString(RADIX)}-${randomText()}`;
}

/** Returns the content that an EMAILID names; undefined when it names none. */
export function contentIdOf(emailId: string): number | undefined {
  const [, text] = NAMING.exec(emailId) ?? [];
  const contentId = text === undefined ? Number.NaN : Number.parseInt(text, RADIX);
  return Number.isSafeInteger(contentId) ? contentId : undefined;
}
