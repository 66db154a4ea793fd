/**
 * The tests `date` and `currentdate` (RFC 5260 sections 4 and 5), and the tags `:index` and `:last`, which choose an occurrence of a field
 * (RFC 5260 section 6, obeyed by `match/fields.ts`).
 */
import { parseZonedDate, type ZonedDate } from '../../date.ts';
import { MatchValue } from '../comparator.ts';
import type { Call, Extension, Parameter, Tag, Text } from '../definition.ts';
import { occurrencesOf } from '../match/fields.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Modified Julian Day of the first day of 1970. */
const EPOCH_JULIAN_DAY = 40_587;

/** The time of the zone, as if it were UTC. */
type LocalDate = { time: Date; zoneMinutes: number };

const two = (number: number) => String(number).padStart(2, '0');
const four = (number: number) => String(number).padStart(4, '0');

const year = ({ time }: LocalDate) => four(time.getUTCFullYear());
const month = ({ time }: LocalDate) => two(time.getUTCMonth() + 1);
const day = ({ time }: LocalDate) => two(time.getUTCDate());
const hour = ({ time }: LocalDate) => two(time.getUTCHours());
const minute = ({ time }: LocalDate) => two(time.getUTCMinutes());
const second = ({ time }: LocalDate) => two(time.getUTCSeconds());
const date = (local: LocalDate) => `${year(local)}-${month(local)}-${day(local)}`;
const clock = (local: LocalDate) => `${hour(local)}:${minute(local)}:${second(local)}`;

function zone({ zoneMinutes }: LocalDate, separator = ''): string {
  const minutes = Math.abs(zoneMinutes);
  return `${zoneMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`;
}

/** An offset of zero is `Z` (RFC 5260 section 4.2). */
function iso8601(local: LocalDate): string {
  return `${date(local)}T${clock(local)}${local.zoneMinutes === 0 ? 'Z' : zone(local, ':')}`;
}

/** Returns a date of RFC 5322 section 3.3. */
function std11(local: LocalDate): string {
  return local.time.toUTCString().replace('GMT', zone(local));
}

const PARTS: Readonly<Record<string, (local: LocalDate) => string>> = {
  year,
  month,
  day,
  date,
  julian: ({ time }) => String(Math.floor(time.getTime() / DAY_MS) + EPOCH_JULIAN_DAY),
  hour,
  minute,
  second,
  time: clock,
  iso8601,
  std11,
  zone: (local) => zone(local),
  weekday: ({ time }) => String(time.getUTCDay()),
};

/** Returns true for the name of a part in lower case. */
function isDatePart(name: string): boolean {
  return Object.hasOwn(PARTS, name);
}

/** Returns a part of a date in its zone; an empty text when there is no such part. */
function datePart(name: string, { at, zoneMinutes }: ZonedDate): string {
  return PARTS[name]?.({ time: new Date(at + zoneMinutes * MINUTE_MS), zoneMinutes }) ?? '';
}

const ZONE: Tag = { name: ':zone', value: 'text', group: 'zone' };
const PART: Parameter = { name: 'date part', type: 'text' };

const OFFSET = /^([+-])([0-9]{2})([0-5][0-9])$/;

/** Returns what moves a date into the zone that a call names, or into that of the server. */
function zoneOf(call: Call): (run: Run, date: ZonedDate) => ZonedDate {
  if (call.has(':originalzone')) return (_run, date) => date;
  if (!call.has(':zone')) return (run, { at }) => ({ at, zoneMinutes: run.input.zoneMinutes });
  const message = '`:zone` needs an offset such as "+0100"';
  const zone = call.checkedText(':zone', (value) => OFFSET.test(value), message);
  return (run, { at }) => {
    const [, sign, hours, minutes] = OFFSET.exec(zone.read(run)) ?? [];
    const offset = Number(hours) * 60 + Number(minutes);
    return { at, zoneMinutes: sign === '-' ? -offset : offset };
  };
}

function partOf(call: Call): Text {
  const isPart = (value: string) => isDatePart(value.toLowerCase());
  return call.checkedText(PART.name, isPart, 'this is not a part of a date');
}

/** Returns the date of a field, which stands alone or behind the last semicolon (RFC 5260 section 4). */
function readDate(value: string): ZonedDate | undefined {
  return parseZonedDate(value.slice(value.lastIndexOf(';') + 1)) ?? undefined;
}

/** Returns the test of a date: it is false without one, but without one its count is 0 (RFC 5260 section 4). */
function compileDateTest(call: Call, find: (run: Run) => ZonedDate | undefined): (run: Run) => boolean {
  const move = zoneOf(call);
  const part = partOf(call);
  const matches = compileMatcher(call);
  return (run) => {
    const date = find(run);
    if (!date) return matches(run, []);
    const text = datePart(part.read(run).toLowerCase(), move(run, date));
    return matches(run, [new MatchValue(text)]);
  };
}

export const DATE: Extension = {
  name: 'date',
  tests: [
    {
      name: 'date',
      tags: [...MATCH_TAGS, ZONE, { name: ':originalzone', group: 'zone' }],
      parameters: [{ name: 'header name', type: 'text' }, PART, KEYS],
      compile(call) {
        const name = call.text('header name');
        const choose = occurrencesOf(call);
        return compileDateTest(call, (run) => {
          const values = run.message.header.values(name.read(run).toLowerCase());
          const [value] = choose(values);
          return value && readDate(value.text);
        });
      },
    },
    {
      name: 'currentdate',
      tags: [...MATCH_TAGS, ZONE],
      parameters: [PART, KEYS],
      compile: (call) => compileDateTest(call, ({ input: { now: at } }) => ({ at, zoneMinutes: 0 })),
    },
  ],
};

export const INDEX: Extension = {
  name: 'index',
  tags: [
    {
      on: ['header', 'address', 'date'],
      tags: [
        { name: ':index', value: 'number' },
        { name: ':last', needs: ':index' },
      ],
    },
  ],
};
