/**
 * Writes a conversation as lines: those of this side, those of the server, and notes about the connection. The number of lines and their
 * length have limits, whatever the server says. No line holds content of a message.
 */
import type { SmtpEvent, SmtpTls } from '../../mail/smtp/client/events.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { Conversation } from './record.ts';

export type ConversationLine = {
  /** Milliseconds since the session of the line began to connect. */
  ms: number;
  /** `sent` by this side, `received` from the server, or a `note` about the connection. */
  direction: 'sent' | 'received' | 'note';
  text: string;
};

/** Maximum length of a line, in characters. Servers explain a refusal within it; RFC 5321 section 4.5.3.1.5 allows 512 octets. */
const MAX_LINE_CHARACTERS = 512;
/** Maximum number of lines that are kept of a conversation. A session with TLS and one recipient has about 50. */
const MAX_LINES = 120;
/** Maximum length of all texts that are kept of a conversation, in characters. */
const MAX_CHARACTERS = 8_192;
/** Share of the limits for the beginning. The end has most of them, because it says why the mail was not delivered. */
const BEGINNING_SHARE = 0.3;

/** Returns the lines of a conversation. What does not fit is left out in the middle, with a note. */
export function linesOf(conversation: Conversation): ConversationLine[] {
  let since: number | undefined;
  const lines = conversation.flatMap(({ at, event }) => {
    if (event.kind === 'connecting') since = at;
    since ??= at;
    return linesOfEvent(event, Math.round(at - since));
  });
  return withinLimits(lines);
}

/** Returns the lines of one event. */
export function linesOfEvent(event: SmtpEvent, ms: number): ConversationLine[] {
  const line = (direction: ConversationLine['direction'], text: string) => ({
    ms,
    direction,
    text: cleanForeignText(text, MAX_LINE_CHARACTERS),
  });
  switch (event.kind) {
    case 'connecting':
      return [line('note', `connecting to ${event.host} [${event.address}], port ${event.port}`)];
    case 'connected':
      return [line('note', 'connected')];
    case 'tls':
      return [line('note', describeTls(event.tls))];
    case 'sent':
      return event.commands
        .trimEnd()
        .split('\r\n')
        .map((command) => line('sent', command));
    case 'received': {
      const { code, lines } = event.reply;
      const last = lines.length - 1;
      if (last < 0) return [line('received', String(code))];
      return lines.map((text, index) => line('received', `${code}${index < last ? '-' : ' '}${text}`));
    }
    case 'content':
      return [line('note', `the message, ${event.sizeBytes} octets, and the final dot were sent`)];
    case 'failed':
      return [line('note', event.failure.message)];
  }
}

function describeTls({ version, cipher, authorized, fault }: SmtpTls): string {
  const certificate = authorized ? 'the certificate is valid' : `the certificate was not verified: ${fault}`;
  return `${version} (${cipher}); ${certificate}`;
}

function withinLimits(lines: readonly ConversationLine[]): ConversationLine[] {
  const first = countFitting(lines, BEGINNING_SHARE);
  const rest = lines.slice(first);
  const last = countFitting(rest.toReversed(), 1 - BEGINNING_SHARE);
  const leftOut = rest.length - last;
  const kept = rest.slice(leftOut);
  if (leftOut === 0) return [...lines];
  const note = { ms: kept[0]?.ms ?? 0, direction: 'note', text: `${leftOut} lines are left out` } as const;
  return [...lines.slice(0, first), note, ...kept];
}

/** Returns the number of lines that fit into a share of the limits. */
function countFitting(lines: readonly ConversationLine[], share: number): number {
  let characters = 0;
  const index = lines.findIndex(({ text }, at) => {
    characters += text.length;
    return at >= MAX_LINES * share || characters > MAX_CHARACTERS * share;
  });
  return index < 0 ? lines.length : index;
}

/** The marks of the directions in stored and printed lines. */
export const MARKS = { sent: '>', received: '<', note: '*' } as const satisfies Record<
  ConversationLine['direction'],
  string
>;
const DIRECTIONS = new Map(
  Object.entries(MARKS).map(([direction, mark]) => [
    mark as string,
    direction as ConversationLine['direction'],
  ]),
);
const STORED_LINE = /^(\d+) ([><*]) (.*)$/;

/** Returns lines as one text, each as `12 < 250 ok`. The texts have no line ends. */
export function encodeLines(lines: readonly ConversationLine[]): string {
  return lines.map(({ ms, direction, text }) => `${ms} ${MARKS[direction]} ${text}`).join('\n');
}

/** Returns the lines of a text that `encodeLines` made. */
export function decodeLines(text: string): ConversationLine[] {
  return text.split('\n').flatMap((line) => {
    const [, ms, mark = '', words = ''] = STORED_LINE.exec(line) ?? [];
    const direction = DIRECTIONS.get(mark);
    return direction === undefined ? [] : [{ ms: Number(ms), direction, text: words }];
  });
}
