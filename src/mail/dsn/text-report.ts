/**
 * Reads bounces that are text for people: those of qmail (its format is QSBMF), and of servers that send no machine-readable part. The
 * rules are the same for all of them: a line that names a failed recipient begins what is said about this recipient.
 */
import { addressKey } from '../address.ts';
import type { HeaderField } from '../mime/header.ts';
import { isDelay, saysFailure } from './bounce-signs.ts';
import { findNamedAddresses, NAMINGS, type NamedAddress } from './named-address.ts';
import {
  cleanDiagnostic,
  findStatus,
  MAX_DIAGNOSTIC_CHARACTERS,
  MAX_NOTICES,
  type Notice,
  type NoticeAction,
} from './notice.ts';

/** The words of a text about one address. */
type Section = Pick<NamedAddress, 'address' | 'naming'> & {
  /** The address that the sender gave, when the mail was forwarded. */
  original: string | null;
  text: string;
};

/** Maximum number of lines that are read. Our own limit. */
const MAX_LINES = 2_000;
/** Maximum length of the beginning of a text that stands for a reason that it does not have. Our own limit. */
const MAX_REASON_CHARACTERS = 300;

/** Matches the reply of a server, at the beginning of a line or after what introduces it. */
const REPLY = /(?:^|[:;"([#][ \t]*|\bsaid:?[ \t]+|<<<[ \t]*|>>>[ \t]*|\.\.\.[ \t]*)([245]\d\d[ :-][\s\S]*)/m;
/** Matches the break of a line inside of the parentheses that name the address that the sender gave. */
const BROKEN_ORIGIN = /\((expanded|generated|ultimately generated) from[ \t]*\n\s*/gi;
const ORIGIN = /\b(?:expanded|generated) from[ \t:]*<?([^\s<>()]+@[^\s<>()]+)/i;

export type TextReport = { action: NoticeAction; sections: readonly Section[]; own: string };

/** Reads the text of a bounce. The sections of the surest recipients come first. */
export function readText(fields: readonly HeaderField[], own: string): TextReport {
  const sections = [...collect(own.replace(BROKEN_ORIGIN, '($1 from ')).values()];
  sections.sort((one, other) => NAMINGS.indexOf(one.naming) - NAMINGS.indexOf(other.naming));
  return { action: isDelay(fields, own) ? 'delayed' : 'failed', sections, own };
}

function collect(own: string): Map<string, Section> {
  const sections = new Map<string, Section>();
  let current: Section[] = [];
  let indent = 0;
  let isOpen = false;
  for (const line of own.split('\n', MAX_LINES)) {
    const origin = ORIGIN.exec(line)?.[1];
    const named = findNamedAddresses(line, saysFailure).filter(({ address }) => address !== origin);
    const starting = named.filter(({ naming }) => startsSection(naming, isOpen));
    const depth = line.search(/\S/);
    if (origin !== undefined) for (const section of current) section.original = origin;
    if (depth < 0) {
      // An empty line ends what is said about an address, unless a colon before it announces more.
      isOpen &&= current.some(({ text }) => /(?:^|:)\s*$/.test(text));
    } else if (starting.length > 0 && !(isOpen && depth > indent)) {
      current = starting.map((one) => openSection(sections, one));
      [indent, isOpen] = [depth, true];
    } else if (isOpen) for (const section of current) append(section, line);
    if (sections.size > MAX_NOTICES) break;
  }
  return sections;
}

function startsSection(naming: Section['naming'], isOpen: boolean): boolean {
  return naming === 'lead' || naming === 'field' || (!isOpen && naming !== 'other');
}

/** Returns the section of an address, which its surest naming decides. */
function openSection(sections: Map<string, Section>, { address, naming, rest }: NamedAddress): Section {
  const key = addressKey(address);
  const section = sections.get(key) ?? { address, naming, original: null, text: '' };
  sections.set(key, section);
  if (NAMINGS.indexOf(naming) < NAMINGS.indexOf(section.naming)) section.naming = naming;
  append(section, rest.replace(/^[\s>"')\]:;,.-]+/, ''));
  return section;
}

function append(section: Section, line: string): void {
  if (section.text.length < MAX_DIAGNOSTIC_CHARACTERS) section.text += `${line}\n`;
}

/** Returns the notice about an address. What the text says elsewhere counts when its section has no reply. */
export function textNotice({ action, own, sections }: TextReport, address: string | null): Notice {
  const key = address === null ? undefined : addressKey(address);
  const section = sections.find((one) => addressKey(one.address) === key);
  const said = section?.text ?? '';
  const reply = REPLY.exec(said)?.[1] ?? (sections.length > 1 ? undefined : REPLY.exec(own)?.[1]);
  const failure = own.split('\n', MAX_LINES).find(saysFailure) ?? own.trim().slice(0, MAX_REASON_CHARACTERS);
  return {
    form: 'text',
    action,
    status: findStatus(said) ?? findStatus(reply ?? own),
    diagnosticCode: cleanDiagnostic(reply ?? (said.trim() === '' ? failure : said)),
    finalRecipient: address,
    originalRecipient: section?.original ?? null,
    remoteMta: null,
    willRetryUntil: null,
  };
}
