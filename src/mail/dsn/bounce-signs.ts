/**
 * Recognises bounces that are written for people, and the automatic replies that look like them: replies of people on vacation,
 * confirmations of receipt, tickets. Each sign of a bounce alone may stand in other mail, too: a bounce has several. An automatic reply
 * does not say that an address is bad.
 */
import { decodeWords } from '../message/decode-words.ts';
import { findValue, type HeaderField } from '../message/lenient-header.ts';

/** Matches authors of bounces: names and addresses of programs that deliver mail. */
const DAEMON =
  /mailer[-_. ]?daemon|post[-_. ]?master|mail[-_. ]?deliver|deliver[a-z]*[-_. ](?:sub)?system|delivery[-_. ]service|(?:system|mail) administrator|returned mail|microsoft ?(?:exchange|outlook)|\bmdaemon\b|mail(?:er)? (?:system|server|gateway)\b/i;
/** Matches subjects of bounces, of common mail servers in some languages. */
const BOUNCE_SUBJECT =
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

/** Maximum length of texts that are searched for words. Signs stand at the beginning. */
const MAX_WORDS_CHARACTERS = 8_000;
/** Maximum length of a subject that is searched for words. */
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
  const inHeader = (isDaemon ? 2 : 0) + (BOUNCE_SUBJECT.test(subjectOf(fields)) ? 1 : 0);
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

/** Fields that are written only by programs that answer mail. */
const AUTO_REPLY_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'x-autoreply',
    'x-autorespond',
    'x-autoresponder',
    'x-autoreply-from',
    'x-mail-autoreply',
    'x-auto-reply',
  ],
  ...['x-autogenerated', 'x-fc-machinegenerated', 'x-post-messageclass'],
]);
const AUTOMATIC_PRECEDENCE: ReadonlySet<string> = new Set(['auto_reply', 'bulk', 'junk', 'list']);

/**
 * Matches how the subjects of automatic replies begin. It is the last resort, for programs that mark their replies in no other
 * way. The phrases are those of common mail programs in some languages.
 */
const AUTO_REPLY_SUBJECT =
  /^\s*(?:re: *)?(?:auto(?:matic|mated)?[ :_-]*(?:reply|response|answer|antwort)|out of (?:the )?office|vacation (?:reply|response)|on vacation|abwesenheit|abwesend|automatische antwort|(?:message d'absence|absence du bureau|r(?:é|e)ponse automatique)|respuesta autom(?:á|a)tica|fuera de (?:la )?oficina|resposta autom(?:á|a)tica|risposta automatica|fuori sede|automatisch antwoord|afwezig|autosvar|fr(?:å|ä)nvarande|автоответ|自动回复|自動回覆|自動返信|不在通知|자동 회신)/iu;
/** Returns true for mail that a program sent as an answer. */
export function isAutoReply(fields: readonly HeaderField[]): boolean {
  return hasAutoReplyFields(fields) || hasAutoReplySubject(fields);
}

/** Returns true for mail whose header says that a program wrote it. Some programs mark bounces like this, too. */
function hasAutoReplyFields(fields: readonly HeaderField[]): boolean {
  // Only `no` means that a person wrote the mail (RFC 3834 section 5).
  const submitted = findValue(fields, 'auto-submitted');
  if (submitted !== undefined && !/^no\b/i.test(submitted)) return true;
  if (fields.some(({ name }) => AUTO_REPLY_FIELDS.has(name))) return true;
  const precedence = findValue(fields, 'precedence');
  if (precedence !== undefined && AUTOMATIC_PRECEDENCE.has(precedence.toLowerCase())) return true;
  // Receipts of readers (RFC 8098) come to the return path from some programs.
  return /report-type\s*=\s*"?disposition-notification/i.test(findValue(fields, 'content-type') ?? '');
}

/** Returns true for mail with the subject of an automatic reply. */
function hasAutoReplySubject(fields: readonly HeaderField[]): boolean {
  return AUTO_REPLY_SUBJECT.test(subjectOf(fields));
}
