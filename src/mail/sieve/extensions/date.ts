/** The tests `date` and `currentdate` (RFC 5260 sections 4 and 5). */
import { parseZonedDate, type ZonedDate } from '../../mime/date.ts';
import type { Call, Extension, Parameter, Tag } from '../compile/definition.ts';
import type { Text } from '../compile/text.ts';
import { MatchValue } from '../match/comparator.ts';
import { occurrencesOf } from '../match/fields.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import { datePart, isDatePart } from './date-part.ts';

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
