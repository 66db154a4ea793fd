/** Formats numbers, sizes and times for a person, in its language and its time zone. */
import { createLru } from '../system/lru.ts';
import type { Language } from './texts/texts.ts';

export type Formats = {
  language: Language;
  /** IANA name of the zone in which times are shown. */
  timeZone: string;
  /** Returns a date with its time to the minute. */
  time(at: number | string): string;
  /** Returns a date with its time to the second and the name of the zone. */
  exactTime(at: number | string): string;
  number(value: number): string;
  /** Returns a share between 0 and 1 as per cent. */
  percent(share: number): string;
  bytes(value: number): string;
};

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const UNIT = 1000;

/** Maximum number of kept formats, which take some 100 kB each. The people of an installation share a few zones. */
const MAX_KEPT = 32;
const kept = createLru<string, Formats>(MAX_KEPT);

/** Returns the formats of a language and a zone. They are kept, because making them takes longer than most pages. */
export function formatsOf(language: Language, timeZone: string): Formats {
  const key = `${language} ${timeZone}`;
  const known = kept.get(key);
  if (known) return known;
  const formats = createFormats(language, timeZone);
  kept.set(key, formats);
  return formats;
}

function createFormats(language: Language, timeZone: string): Formats {
  const short = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone });
  const numbers = new Intl.NumberFormat(language);
  const shares = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 });
  return {
    language,
    timeZone,
    time: (at) => short.format(new Date(at)),
    exactTime: (at) => exact.format(new Date(at)),
    number: (value) => numbers.format(value),
    percent: (share) => shares.format(share),
    bytes(value) {
      const power = Math.min(
        UNITS.length - 1,
        value < UNIT ? 0 : Math.floor(Math.log(value) / Math.log(UNIT)),
      );
      const unit = UNITS[power] ?? 'byte';
      return new Intl.NumberFormat(language, {
        style: 'unit',
        unit,
        unitDisplay: power === 0 ? 'long' : 'short',
        maximumSignificantDigits: 3,
      }).format(value / UNIT ** power);
    },
  };
}
