/**
 * Reads bounces that are text for people: those of qmail (its format is QSBMF), and of servers that sent no machine-readable
 * part, mostly old ones. A form is recognised by its first words. In all of them, a line with an address alone begins what is
 * said about this recipient, up to the next such line, or to the copy of the message.
 */
import { bareAddress } from './address.ts';
import {
  type BounceForm,
  cleanDiagnostic,
  findStatus,
  MAX_NOTICES,
  type Notice,
  type NoticeAction,
} from './notice.ts';

type TextForm = { form: BounceForm; action: NoticeAction; intro: RegExp };

const FORMS: readonly TextForm[] = [
  { form: 'qmail', action: 'failed', intro: /^\s*Hi\. This is the /i },
  {
    form: 'yahoo',
    action: 'failed',
    intro: /^\s*Sorry, we were unable to deliver your message to the following address/i,
  },
  {
    form: 'exim',
    action: 'delayed',
    intro: /mail delivery software[\s\S]{0,200}\bmessage that you sent has not yet been delivered/i,
  },
  {
    form: 'exim',
    action: 'failed',
    intro: /mail delivery software[\s\S]{0,200}\bmessage that you sent could not be delivered/i,
  },
  { form: 'gmail', action: 'failed', intro: /^\s*Delivery to the following recipients? failed permanently/i },
  {
    form: 'gmail',
    action: 'delayed',
    intro:
      /^\s*(?:This is an automatically generated Delivery Status Notification\s+)?(?:THIS IS A WARNING MESSAGE ONLY\.\s[\s\S]{0,200})?Delivery to the following recipients? has been delayed/i,
  },
  {
    form: 'exchange',
    action: 'failed',
    intro: /^\s*Your message did not reach some or all of the intended recipients/i,
  },
  { form: 'domino', action: 'failed', intro: /^\s*Your message\s[\s\S]{0,500}?\bwas not delivered to:/i },
];

/** Maximum length of the beginning of a text in which the first words are looked for. Our own limit. */
const MAX_INTRO_CHARACTERS = 2_000;
/** Maximum length of a text that is read. Our own limit: the copy of the message stands at the end. */
const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Maximum length of a line with an address. Our own limit. */
const MAX_ADDRESS_LINE_CHARACTERS = 400;

/** Matches the line that stands before the copy of the message, or before its header. */
const COPY =
  /^(?:--- (?:Below this line|Enclosed are)|-{3,} (?:This is a copy|Original message)|Return-Path:|Received: )/i;
/** Matches an address alone on its line, as each form writes it: `<a@b>:`, `  a@b`, `a@b on 1/2/2026 3:04 PM`. */
const ADDRESS_LINE = /^[ \t]*(<[^\s<>]+>|[^\s<>():;,]+@[^\s<>():;,]+):?(?:[ \t]+on[ \t].*)?[ \t]*$/;
/** Matches the reply of a server, at the beginning of a line or after what introduces it. */
const REPLY = /(?:^|[:;"][ \t]+|\bsaid:?[ \t]+|;)([245]\d\d[ :-][\s\S]*)/m;

/** Returns what a text says about each recipient; nothing when its form is unknown. `text` has LF line ends. */
export function readTextReport(text: string): Notice[] {
  const intro = text.slice(0, MAX_INTRO_CHARACTERS);
  const form = FORMS.find((one) => one.intro.test(intro));
  if (!form) return [];
  const sections: { address: string; lines: string[] }[] = [];
  for (const line of text.slice(0, MAX_TEXT_CHARACTERS).split('\n')) {
    if (COPY.test(line)) break;
    const address = addressOn(line);
    if (address !== null) sections.push({ address, lines: [] });
    else sections.at(-1)?.lines.push(line);
    if (sections.length > MAX_NOTICES) break;
  }
  return sections.slice(0, MAX_NOTICES).map((section) => noticeOf(form, section));
}

function addressOn(line: string): string | null {
  const match = line.length > MAX_ADDRESS_LINE_CHARACTERS ? null : ADDRESS_LINE.exec(line);
  return match ? bareAddress(match[1] ?? '') : null;
}

function noticeOf(
  { form, action }: TextForm,
  { address, lines }: { address: string; lines: readonly string[] },
): Notice {
  const text = lines.join('\n');
  return {
    form,
    action,
    status: findStatus(text),
    diagnosticCode: cleanDiagnostic(REPLY.exec(text)?.[1] ?? text),
    finalRecipient: address,
    originalRecipient: null,
    remoteMta: null,
    willRetryUntil: null,
  };
}
