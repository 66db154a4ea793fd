/**
 * Recognises fields of a message that arrives which readers could take for fields of this installation: it writes such fields itself, or mail
 * programs believe that the receiving server has written them.
 */
import { addressKey } from '../address.ts';
import { hostName, namesAuthservId } from './results-owner.ts';

export type OwnFieldOptions = {
  /** Name of this installation in Authentication-Results fields. */
  authservId: string;
  /**
   * Keys of the recipients (`addressKey`). Undefined for a message that a mail server of this machine hands over: its fields about spam and
   * about the way of the message are not those of a stranger.
   */
  recipients: ReadonlySet<string> | undefined;
};

const SPAM_PREFIX = 'x-spam-';
const SPAM_FIELD = 'x-spam';

/** Returns true for the name, in lower case, of a field that may have to be removed. */
export function mayPassAsOwn(name: string): boolean {
  return TESTS.has(name) || isSpamField(name);
}

/** Returns true for a field that could pass as one of this installation. `text` is the field after its colon. */
export function passesAsOwn(name: string, text: string, options: OwnFieldOptions): boolean {
  if (isSpamField(name)) return options.recipients !== undefined;
  return TESTS.get(name)?.(text, options) ?? false;
}

/** Verdicts of spam filters name no server, so that every one could be ours. */
function isSpamField(name: string): boolean {
  return name === SPAM_FIELD || name.startsWith(SPAM_PREFIX);
}

type Test = (text: string, options: OwnFieldOptions) => boolean;

const TESTS: ReadonlyMap<string, Test> = new Map([
  // The field is added anew (RFC 5321 section 4.4).
  ['return-path', () => true],
  ['authentication-results', (text, { authservId }) => namesAuthservId(text, authservId)],
  [
    'received-spf',
    (text, { authservId, recipients }) => recipients !== undefined && isOwnSpfResult(text, authservId),
  ],
  ['delivered-to', (text, { recipients }) => recipients?.has(addressKey(addressOf(text))) ?? false],
] satisfies [string, Test][]);

/** Matches the key before the receiver of a Received-SPF field, and the comment in which many servers name themselves (RFC 7208 section 9.1). */
const RECEIVER = /(?<![\w.-])receiver\s*=/gi;
const NAMED_IN_COMMENT = /^[^(]*\(\s*([^\s:()]+)\s*:/;

/** A result could be ours without the name of the server that has found it, and with several receivers, one of which a reader may miss. */
function isOwnSpfResult(text: string, authservId: string): boolean {
  const [receiver, ...others] = text.matchAll(RECEIVER);
  if (others.length > 0) return true;
  if (receiver) return namesAuthservId(text.slice(receiver.index + receiver[0].length), authservId);
  const named = NAMED_IN_COMMENT.exec(text)?.[1];
  return named === undefined || hostName(named) === hostName(authservId);
}

function addressOf(text: string): string {
  return (/<([^<>]*)>/.exec(text)?.[1] ?? text).trim();
}
