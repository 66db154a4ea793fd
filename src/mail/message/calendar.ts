/**
 * Checks a calendar object (RFC 5545) that is sent as an invitation (RFC 5546, RFC 6047). Nothing in it is changed but its line ends; what mail
 * programs would ignore is refused with the reason.
 */

/** Methods of RFC 5546 section 1.4. */
export const CALENDAR_METHODS = [
  'PUBLISH',
  'REQUEST',
  'REPLY',
  'ADD',
  'CANCEL',
  'REFRESH',
  'COUNTER',
  'DECLINECOUNTER',
] as const;
type CalendarMethod = (typeof CALENDAR_METHODS)[number];

export type Calendar = {
  method: CalendarMethod;
  /** Calendar object with CRLF line ends. */
  content: string;
};

/** Maximum size of a calendar object. An invitation to 1,000 people has 100 KiB. */
const MAX_CALENDAR_BYTES = 256 * 1024;

/** Components about which a method can say something (RFC 5546 section 1.4). */
const COMPONENTS: ReadonlySet<string> = new Set(['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY']);
/** Methods that go to attendees or come from them, and need the fields of both (RFC 5546 section 3.2). */
const NEEDS_ATTENDEE: ReadonlySet<CalendarMethod> = new Set(['REQUEST', 'REPLY', 'REFRESH', 'COUNTER']);

/** Returns the object with CRLF line ends, of which the last line has one too. One that is too large is returned as it is, since it is refused. */
export function normalizeCalendar(content: string): string {
  if (content.length > MAX_CALENDAR_BYTES) return content;
  const text = content.replace(/^\ufeff/, '').replace(/\r\n?|\n/g, '\r\n');
  let end = text.length;
  while (text.endsWith('\r\n', end)) end -= 2;
  return `${text.slice(0, end)}\r\n`;
}

/** Returns the end of the sentence "the calendar must …" for an object that cannot work; undefined for any other. */
export function findCalendarProblem({ method, content }: Calendar): string | undefined {
  if (Buffer.byteLength(content) > MAX_CALENDAR_BYTES) return `be at most ${MAX_CALENDAR_BYTES / 1024} KiB`;
  if (/[^\P{Cc}\t\r\n]/u.test(content)) return 'not contain control characters';
  const lines = content
    .replace(/\r\n[ \t]/g, '')
    .trimEnd()
    .split('\r\n');
  if (!isLine(lines[0], 'BEGIN:VCALENDAR')) return 'begin with the line BEGIN:VCALENDAR';
  if (!isLine(lines.at(-1), 'END:VCALENDAR')) return 'end with the line END:VCALENDAR';
  const malformed = lines.findIndex((line) => !/^[A-Za-z0-9-]+[:;]/.test(line));
  if (malformed >= 0)
    return `have a property in each line, such as SUMMARY:Lunch; line ${malformed + 1} has none`;
  return findNestingProblem(lines) ?? findPropertyProblem(method, lines);
}

function isLine(line: string | undefined, wanted: string): boolean {
  return line?.trimEnd().toUpperCase() === wanted;
}

function findNestingProblem(lines: readonly string[]): string | undefined {
  const open: string[] = [];
  for (const [index, line] of lines.entries()) {
    const [, kind, name = ''] = /^(BEGIN|END):(\S+)\s*$/.exec(line.toUpperCase()) ?? [];
    if (kind === undefined) continue;
    if (kind === 'END') {
      if (open.pop() !== name) return `close its components in order; line ${index + 1} ends ${name}`;
    } else if ((name === 'VCALENDAR') !== (index === 0)) {
      return 'contain exactly one VCALENDAR';
    } else open.push(name);
  }
  return open.length > 0 ? `close its components; ${open.at(-1)} is open` : undefined;
}

/** Checks the properties without which mail programs show no invitation (RFC 5545 section 3.6, RFC 5546 section 3). */
function findPropertyProblem(method: CalendarMethod, lines: readonly string[]): string | undefined {
  const has = (name: string) => lines.some((line) => nameOf(line) === name);
  const methods = lines
    .filter((line) => nameOf(line) === 'METHOD')
    .map((line) => line.slice(line.indexOf(':') + 1));
  if (methods.length !== 1 || methods[0]?.trim().toUpperCase() !== method)
    return `have the one line METHOD:${method}, as \`calendar.method\` says`;
  if (!lines.some((line) => /^VERSION[^:]*:2\.0\s*$/i.test(line))) return 'have the line VERSION:2.0';
  if (!has('PRODID')) return 'have a PRODID, which names the program that wrote it';
  const isComponent = (line: string) => COMPONENTS.has(/^BEGIN:(\S+)/i.exec(line)?.[1]?.toUpperCase() ?? '');
  if (!lines.some(isComponent))
    return 'contain an event (VEVENT), a task, a journal entry or times that are free';
  if (!has('UID')) return 'have a UID, by which later changes find the event';
  if (!has('DTSTAMP')) return 'have a DTSTAMP, the time at which it was written';
  if (method !== 'PUBLISH' && !has('ORGANIZER')) return `have an ORGANIZER, as ${method} needs one`;
  if (NEEDS_ATTENDEE.has(method) && !has('ATTENDEE')) return `have an ATTENDEE, as ${method} needs one`;
  return undefined;
}

function nameOf(line: string): string {
  return (/^[A-Za-z0-9-]+/.exec(line)?.[0] ?? '').toUpperCase();
}
