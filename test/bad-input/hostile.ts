/** Values that have broken programs before. */

export const HOSTILE: readonly string[] = [
  '',
  ' ',
  'a\r\nBcc: x@evil.example',
  'a\nb',
  'a\rb',
  'a\0b',
  '\0',
  '\u2028',
  'a\u2029b',
  '\u0085',
  '\ud800',
  'a\udc00b',
  '\ufeff',
  '\u202e\u200b',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '../../etc/passwd',
  '=?UTF-8?Q?a=0D=0ABcc:_x?=',
  '"a\r\nb" <a@b.example>',
  '{{constructor}}',
  'e\u0301'.repeat(500),
  'x'.repeat(100_000),
  '@'.repeat(100_000),
  '"'.repeat(100_000),
  'a.'.repeat(50_000),
  `${' '.repeat(100_000)}a`,
  `${'<'.repeat(50_000)}${'>'.repeat(50_000)}`,
];

/** What a field below the first level, or one that few callers need, is tried with: no more than a test has time for. */
export const WRONG_BELOW: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e308,
  2 ** 53,
  2 ** 64,
  [],
  {},
  [[null]],
  { length: 1, toString: 1 },
  '',
  ' ',
  'a\r\nBcc: x@evil.example',
  'a\0b',
  '\ud800',
  '__proto__',
  'constructor',
  '%',
  '_',
  '{{constructor}}',
  'x'.repeat(20_000),
];

/** What is no text. */
export const WRONG_TYPES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  [],
  {},
  [[]],
  [null],
  [{}],
  { length: 1 },
  { toString: 1 },
];

export const WRONG: readonly unknown[] = [...WRONG_TYPES, ...HOSTILE];

/** Besides them, for a field that may be a list. Any other field refuses every list alike. */
export const WRONG_LISTS: readonly unknown[] = HOSTILE.map((text) => [text]);
