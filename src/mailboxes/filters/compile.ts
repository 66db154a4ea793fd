/** Compiles the automatic reply, forwarding and the rules of a mailbox into a Sieve script, so that one engine runs everything. */
import { parseTimestamp } from '../../system/clock.ts';
import type { Filters } from './filters.ts';
import type { Condition, Rule, Vacation } from './schemas.ts';

const REQUIRED = [
  'body',
  'copy',
  'date',
  'fileinto',
  'imap4flags',
  'mailbox',
  'relational',
  'vacation',
] as const;

/** Returns the script; null when the mailbox does nothing with its mail but store it. */
export function compileFilters({ vacation, forwardTo, keepCopy, rules }: Filters): string | null {
  const commands = [
    ...(vacation ? [compileVacation(vacation)] : []),
    ...forwardTo.map((address) => `redirect${keepCopy ? ' :copy' : ''} ${quote(address)};`),
    // Mail that is only sent on is stored nowhere, whatever the rules say.
    ...(forwardTo.length > 0 && !keepCopy ? ['stop;'] : rules.map(compileRule)),
  ];
  if (commands.length === 0) return null;
  return [`require [${REQUIRED.map(quote).join(', ')}];`, ...commands, ''].join('\r\n');
}

function compileVacation({ from, until, subject, text }: Vacation): string {
  const reply = `vacation${subject == null ? '' : ` :subject ${quote(subject)}`} ${quote(text)};`;
  const tests = [
    ...(from == null ? [] : [compileTime('ge', from)]),
    ...(until == null ? [] : [compileTime('lt', until)]),
  ];
  return tests.length === 0 ? reply : `if allof (${tests.join(', ')}) { ${reply} }`;
}

/** Times are compared as texts of one form and one zone. */
function compileTime(operator: 'ge' | 'lt', time: string): string {
  const utc = new Date(parseTimestamp(time) ?? 0).toISOString().replace(/\.\d+Z$/, 'Z');
  return `currentdate :zone "+0000" :value "${operator}" "iso8601" ${quote(utc)}`;
}

function compileRule({ match = 'all', conditions, ...actions }: Rule): string {
  const { stop = true, forwardTo } = actions;
  const block = [
    ...(forwardTo === undefined ? [] : [`redirect :copy ${quote(forwardTo)};`]),
    ...compileFiling(actions),
    ...(stop ? ['stop;'] : []),
  ].join(' ');
  if (conditions.length === 0) return block;
  return `if ${match === 'all' ? 'allof' : 'anyof'} (${conditions.map(compileCondition).join(', ')}) { ${block} }`;
}

function compileFiling({ fileInto, markRead, star, discard }: Omit<Rule, 'conditions'>): string[] {
  if (discard) return ['discard;'];
  const flags = [...(markRead ? ['\\Seen'] : []), ...(star ? ['\\Flagged'] : [])];
  const tag = flags.length === 0 ? '' : ` :flags [${flags.map(quote).join(', ')}]`;
  if (fileInto !== undefined) return [`fileinto :create${tag} ${quote(fileInto)};`];
  return flags.length === 0 ? [] : [`keep${tag};`];
}

function compileCondition(condition: Condition): string {
  return `${condition.not ? 'not ' : ''}${compileTest(condition)}`;
}

function compileTest({ field, header = '', operator = 'contains', value }: Condition): string {
  switch (field) {
    case 'larger':
      return `size :over ${value}`;
    case 'smaller':
      return `size :under ${value}`;
    case 'body':
      return `body :text ${compileMatch(operator, value)}`;
    case 'to':
      return compileAddresses('["to", "cc"]', { operator, value });
    case 'from':
      return compileAddresses('"from"', { operator, value });
    case 'subject':
      return `header ${compileMatch(operator, '"subject"', value)}`;
    case 'header':
      return `header ${compileMatch(operator, quote(header), value)}`;
  }
}

type Comparison = Required<Pick<Condition, 'operator'>> & Pick<Condition, 'value'>;

/** A part of a field may be that of a name; a whole value is that of an address. */
function compileAddresses(fields: string, { operator, value }: Comparison): string {
  const test = operator === 'is' ? 'address' : 'header';
  return `${test} ${compileMatch(operator, fields, value)}`;
}

/** Returns the match type with the arguments, the last of which is the value. */
function compileMatch(operator: Comparison['operator'], ...args: readonly string[]): string {
  const value = args.at(-1) ?? '';
  const fields = args
    .slice(0, -1)
    .map((argument) => `${argument} `)
    .join('');
  switch (operator) {
    case 'contains':
    case 'is':
      return `:${operator} ${fields}${quote(value)}`;
    case 'startsWith':
      return `:matches ${fields}${quote(`${escapeWildcards(value)}*`)}`;
    case 'endsWith':
      return `:matches ${fields}${quote(`*${escapeWildcards(value)}`)}`;
  }
}

function escapeWildcards(text: string): string {
  return text.replace(/[*?\\]/g, '\\$&');
}

/** Returns a quoted string (RFC 5228 section 2.4.2). */
function quote(text: string): string {
  return `"${text.replace(/\r\n?|\n/g, '\r\n').replace(/["\\]/g, '\\$&')}"`;
}
