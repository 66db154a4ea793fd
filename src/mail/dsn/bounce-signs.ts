/**
 * Tells bounces that are written for people from other mail. Each sign alone may stand in other mail, too: a bounce has several. Words of
 * people are weak signs, since automatic replies use them as well.
 */
import { decodeWords } from '../message/decode-words.ts';
import { findValue, type HeaderField } from '../mime/header.ts';
import { hasAutoReplyFields, hasAutoReplySubject } from './auto-reply.ts';

/** Matches authors of bounces: names and addresses of programs that deliver mail. */
const DAEMON =
  /mailer[-_. ]?daemon|post[-_. ]?master|mail[-_. ]?deliver|deliver[a-z]*[-_. ](?:sub)?system|delivery[-_. ]service|(?:system|mail) administrator|returned mail|microsoft ?(?:exchange|outlook)|\bmdaemon\b|mail(?:er)? (?:system|server|gateway)\b/i;
/** Matches subjects of bounces, of common mail servers in some languages. */
const SUBJECT =
  /undeliver|undelivered|not (?:be )?delivered|non[- ]?deliver|delivery (?:status|report|notification|failure|failed|problem|error|delayed|incomplete)|delivery (?:has|was) |(?:failure|failed) (?:notice|delivery|mail)|(?:mail|message)[^a-z]{0,3}(?:delivery )?(?:has )?fail|fail(?:ed|ure) to deliver|return(?:ed|ing) (?:mail|message|to sender|e-?mail)|mail (?:system )?error|could not (?:be )?(?:send|sent|deliver)|warning: could not send|delayed mail|user unknown|rejected|unzustellbar|nicht zugestellt|non remis|no se (?:ha |pudo )|no entregad|mancata consegna|niet bezorgd|не доставлен|недоставлен|配信|配送|送信でき|エラー|退信|투함/iu;
/** Matches words that say that a message was not delivered. */
const FAILURE =
  /(?:could ?n[o']t|can ?n?[o']t|unable|failed|failure|error|problems?|attempt(?:ing|ed)?)(?: to)? (?:be |occurred |while |when |in |was )*(?:trying to |attempting to )?(?:deliver|send|sent)|not (?:yet )?(?:been )?(?:be )?(?:able to )?deliver|undeliver|did not reach|delivery (?:to|has|failed|error|problem|failure)|(?:permanent|fatal|delivery) (?:fatal )?(?:errors?|problems?|failure)|return(?:ed|ing) to (?:the )?sender|(?:was|been) (?:automatically )?(?:rejected|refused|returned)|unknown (?:user|recipient|address|host|domain)|(?:user|recipient|host|domain|address|mailbox|account) (?:is )?(?:unknown|not found|disabled|unavailable|invalid)|(?:invalid|no such|bad) (?:user|recipient|address|mailbox|host|(?:final )?delivery userid)|(?:does|may|might)(?: not|n't) exist|not listed in|over ?quota|quota exceeded|mailbox (?:is )?full|failure reasons?|the following address(?:es)?|送信できません|送信に失敗|配信できません|не может быть доставлено|nicht zugestellt|n'a pas (?:pu être|été)/iu;
/** Matches the reply of a server on a line. */
const REPLY = /(?:^|[\s:;<>("-])[45]\d\d[ -](?:#?[45]\.\d{1,3}\.\d{1,3}|[A-Za-z<[-])/;
const ENHANCED = /(?:^|[\s(#])[45]\.\d{1,3}\.\d{1,3}(?![\d.])/;
/** Matches words of a warning: the message is kept, and the server tries again. */
const DELAY =
  /not yet been delivered|not been delivered to (?:one|all|some)\b[^.]{0,80}\bafter\b|(?:has|have|been|is|was|will be) (?:been )?delayed|delivery (?:is |has been )?delayed|delayed mail|warning message only|this is a warning|will (?:be retried|keep trying|continue (?:to try|trying))|still being retried|delivery attempts? will (?:continue|be made)|could not send message for (?:the )?past|message still undelivered/i;
const GAVE_UP =
  /permanent|given up|giving up|gave up|will not (?:be retried|continue|keep)|no further|(?<!non-)fatal/i;

/** Maximum length of texts that are searched for words. Our own limit: signs stand at the beginning. */
const MAX_WORDS_CHARACTERS = 8_000;
const MAX_SUBJECT_CHARACTERS = 500;
/** Number of points from which on a message is a bounce. */
const MIN_POINTS = 3;

type SignedText = {
  fields: readonly HeaderField[];
  /** Text that the program wrote, without the message that it returns. */
  own: string;
  /** True when the message returns another one. */
  hasCopy: boolean;
  /** True when a line names a failed recipient together with the failure. */
  namesFailure: boolean;
};

/** Returns true when a line says that something was not delivered, or has the reply of a server. */
export function saysFailure(line: string): boolean {
  return FAILURE.test(line) || REPLY.test(line) || ENHANCED.test(line);
}

/** Returns true for a message that is a bounce by what it says. */
export function isBounceForPeople({ fields, own, hasCopy, namesFailure }: SignedText): boolean {
  const isDaemon = DAEMON.test(findValue(fields, 'from') ?? '');
  // Programs that answer mail mark it, and so do some that bounce it: only their names tell them apart.
  if (hasAutoReplySubject(fields) || (hasAutoReplyFields(fields) && !isDaemon)) return false;
  const saysSo = own.slice(0, MAX_WORDS_CHARACTERS).split('\n').some(saysFailure);
  const inBody = [hasCopy, namesFailure, saysSo].filter(Boolean).length;
  const inHeader = (isDaemon ? 2 : 0) + (SUBJECT.test(subjectOf(fields)) ? 1 : 0);
  return inBody > 0 && inBody + inHeader >= MIN_POINTS;
}

/** Returns true for a bounce that says that the server has not given up yet. */
export function isDelay(fields: readonly HeaderField[], own: string): boolean {
  const words = `${subjectOf(fields)}\n${own.slice(0, MAX_WORDS_CHARACTERS)}`.replace(/\s+/g, ' ');
  return DELAY.test(words) && !GAVE_UP.test(words);
}

function subjectOf(fields: readonly HeaderField[]): string {
  return decodeWords((findValue(fields, 'subject') ?? '').slice(0, MAX_SUBJECT_CHARACTERS));
}
