/**
 * Finds the part of a text that its author wrote, without the message that it answers. Mail programs mark a quoted
 * message in a few ways: `>` before each line, a line that says who wrote it, a separator, or the header of the quoted
 * message in the language of the program. Every line is looked at once, so the time is linear.
 */

/** Maximum length of the text that is searched for the reply, and of the reply. */
const MAX_REPLY_CHARACTERS = 256 * 1024;
/** Maximum length of a line that may be one of the lines below. Longer ones are text. */
const MAX_MARK_CHARACTERS = 400;
/** Maximum number of lines that an attribution is wrapped into. */
const MAX_ATTRIBUTION_LINES = 3;
/** Maximum number of lines of the header of a quoted message that are looked at: its fields, and lists of recipients that are wrapped. */
const MAX_HEADER_BLOCK_LINES = 12;
/** Maximum number of lines in a row that continue a field of such a header. */
const MAX_WRAPPED_LINES = 2;

/**
 * Matches the end of an attribution such as `On Monday, Ann wrote:`, in the languages of common mail programs. Words that
 * follow the name are in the list with it.
 */
const ATTRIBUTION_END =
  /(?:wrote|schrieb(?: .{1,200})?|geschrieben|a écrit|escribió|ha scritto|escreveu|schreef(?: .{1,200})?|skrev(?: .{1,200})?|kirjoitti|napsal(?:\(a\)|a)?|napísal(?:\(a\)|a)?|pisze|napisał(?:\(a\)|a)?|пишет|писал(?:\(а\)|а)?|написал(?:\(а\)|а)?|пише|yazdı|írta|a scris|έγραψε|写道|寫道|のメッセージ|書きました|작성)\s?[:：]$/iu;
/** Matches an attribution without a verb, as Gmail writes it in Russian. A quoted line must follow it. */
const ADDRESS_END = /<[^<>@\s]{1,64}@[^<>\s]{1,255}>\s?:$/u;

/** The first words of an attribution with a date, for quoted text that has no `>`. */
const ATTRIBUTION_START =
  /^(?:On|Am|Le|El|Il|Op|Em|Den|Dne|Dňa|Dnia|W dniu|On|Pe|Pada|În data|Στις|В|пн|вт|ср|чт|пт|сб|вс|\d{1,4}[./年-])\W?.*\d/iu;

const ORIGINAL_MESSAGE = [
  'Original Message|Original Appointment|Forwarded message|Begin forwarded message',
  'Ursprüngliche Nachricht|Originalnachricht|Weitergeleitete Nachricht',
  "Message d['’]origine|Message original|Message transféré",
  'Mensaje original|Mensaje reenviado|Messaggio originale|Messaggio inoltrato',
  'Oorspronkelijk bericht|Doorgestuurd bericht|Mensagem original|Mensagem encaminhada',
  'Wiadomość oryginalna|Oryginalna wiadomość|Ursprungligt meddelande|Originalmeddelande',
  'Oprindelig meddelelse|Opprinnelig melding|Alkuperäinen viesti|Původní zpráva|Pôvodná správa',
  'Исходное сообщение|Пересылаемое сообщение|Оригинал повідомлення|Orijinal Mesaj|Eredeti üzenet|Mesaj original',
  '原始邮件|原始郵件|元のメッセージ|원본 메시지',
].join('|');
const SEPARATOR = new RegExp(`^(?:-{2,}|_{2,}) ?(?:${ORIGINAL_MESSAGE}) ?:?(?:-{2,}|_{2,})$`, 'iu');

/** Names of the fields with which programs begin the quoted message, in their languages. */
const FIELD_NAMES = {
  from: 'From|Von|De|Da|Van|Od|Från|Fra|Lähettäjä|От|Від|Kimden|Gönderen|Feladó|De la|Expeditor|Από|发件人|寄件者|差出人|보낸 사람',
  date: 'Sent|Date|Gesendet|Datum|Envoyé(?: le)?|Enviado(?: el| em)?|Enviada(?: em)?|Fecha|Data|Inviato|Verzonden|Wysłano|Skickat|Sendt|Dato|Lähetetty|Päivämäärä|Päiväys|Odesláno|Odoslané|Dátum|Отправлено|Дата|Надіслано|Gönderildi|Gönderme Tarihi|Tarih|Elküldve|Küldve|Trimis|Ημερομηνία|Στάλθηκε|发送时间|日期|時間|傳送時間|寄件日期|送信日時|日時|날짜|보낸 날짜',
  to: 'To|An|À|A|Para|Aan|Do|Komu|Till|Til|Vastaanottaja|Кому|Kime|Alıcı|Címzett|Către|Catre|Προς|收件人|收件者|宛先|받는 사람',
  subject:
    'Subject|Betreff|Objet|Sujet|Asunto|Assunto|Oggetto|Onderwerp|Temat|Předmět|Predmet|Ämne|Emne|Aihe|Тема|Konu|Tárgy|Subiect|Θέμα|主题|主題|主旨|标题|件名|제목',
  other:
    'Cc|Bcc|Kopie|Kopia|Kopi|Copie|Copia|Копия|Копія|Bilgi|Másolatot kap|Κοιν|抄送|副本|참조|Reply-To|Antwort an|Répondre à|Responder a|Priority|Importance|Wichtigkeit|Priorität|Attachments|Anlagen|Organization|Message-ID',
} as const;

type FieldKind = keyof typeof FIELD_NAMES;

/** Matches a line of such a header. Programs that write Markdown mark the names. */
const FIELD_LINES: readonly { kind: FieldKind; pattern: RegExp }[] = Object.entries(FIELD_NAMES).map(
  ([kind, names]) => ({
    kind: kind as FieldKind,
    pattern: new RegExp(`^(?:\\*{1,2}|_)?(?:${names})(?:\\*{1,2}|_)? ?[:：](?:\\*{1,2}|_)?(?: ?\\S|$)`, 'iu'),
  }),
);
/** A line between the answer and the header, drawn by Outlook or made of an `<hr>`. */
const RULE = /^(?:_{5,}|-{3,}|={5,}|\*{5,}|—{2,}|─{2,})$/u;

/** The lines of a text, and those among them that were looked at, as `markOf` returns them. */
type ReadText = { lines: readonly string[]; marks: string[] };

/** Returns what the author wrote; empty when the text is nothing but a quoted message. */
export function readReplyText(text: string): string {
  const lines = text.slice(0, MAX_REPLY_CHARACTERS).toWellFormed().split('\n');
  const read: ReadText = { lines, marks: [] };
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').replace(/\r$/, '');
    if (line.startsWith('>')) continue;
    if (isSeparator(read, at)) break;
    const attribution = findAttribution(read, at);
    if (attribution?.ends) break;
    if (attribution) at = attribution.last;
    else kept.push(line);
  }
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** Returns true when everything from this line on is the quoted message. */
function isSeparator(text: ReadText, at: number): boolean {
  const line = markAt(text, at);
  if (SEPARATOR.test(line)) return true;
  return beginsHeaderBlock(text, RULE.test(line) ? nextFilled(text, at + 1) : at);
}

/**
 * Returns true when the header of a quoted message begins here, in any order: with its author and its date, or with its author, its
 * recipients and its subject. One field alone may be a sentence.
 */
function beginsHeaderBlock(text: ReadText, start: number): boolean {
  if (kindOf(markAt(text, start)) === undefined) return false;
  const kinds = new Set<FieldKind>();
  let wrapped = 0;
  for (let at = start; at < start + MAX_HEADER_BLOCK_LINES && wrapped <= MAX_WRAPPED_LINES; at += 1) {
    const line = markAt(text, at);
    const kind = kindOf(line);
    // Some programs have empty lines between the fields, and an empty line ends the header in all others.
    if (line === '' && kindOf(markAt(text, at + 1)) === undefined) return false;
    wrapped = kind === undefined && line !== '' ? wrapped + 1 : 0;
    if (kind !== undefined) kinds.add(kind);
    if (kinds.has('from') && (kinds.has('date') || (kinds.has('to') && kinds.has('subject')))) return true;
  }
  return false;
}

const COLON = /[:：]/;
const COLON_AT_END = /[:：]$/;

function kindOf(line: string): FieldKind | undefined {
  if (!COLON.test(line)) return undefined;
  return FIELD_LINES.find(({ pattern }) => pattern.test(line))?.kind;
}

/** The line that says who wrote the quoted message. With `ends`, everything after it is quoted. */
type Attribution = { last: number; ends: boolean };

function findAttribution(text: ReadText, at: number): Attribution | undefined {
  let joined = '';
  for (let last = at; last < at + MAX_ATTRIBUTION_LINES; last += 1) {
    const line = markAt(text, last);
    if (line === '' || line.startsWith('>')) return undefined;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (joined.length > MAX_MARK_CHARACTERS) return undefined;
    if (!COLON_AT_END.test(joined)) continue;
    const hasVerb = ATTRIBUTION_END.test(joined);
    if (!hasVerb && !ADDRESS_END.test(joined)) continue;
    const isQuoted = (text.lines[nextFilled(text, last + 1)] ?? '').startsWith('>');
    if (isQuoted) return { last, ends: false };
    return hasVerb && ATTRIBUTION_START.test(joined) ? { last, ends: true } : undefined;
  }
  return undefined;
}

/** Matches white space that is not one space: single spaces, which are most, are not replaced. */
const WIDE_SPACE = /[^\S ]\s*| \s+/g;

/** Returns a line as `markOf` does. Each is asked for several times. */
function markAt({ lines, marks }: ReadText, at: number): string {
  marks[at] ??= markOf(lines[at] ?? '');
  return marks[at];
}

/** Returns the line with single spaces, and none around it; empty when it is too long for a mark. */
function markOf(line: string): string {
  return line.length > MAX_MARK_CHARACTERS ? '' : line.replace(WIDE_SPACE, ' ').trim();
}

/** Returns the number of the next line that is not empty, of the next two. */
function nextFilled({ lines }: ReadText, at: number): number {
  return (lines[at] ?? '').trim() === '' ? at + 1 : at;
}
