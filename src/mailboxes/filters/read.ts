/** Reads what a request says about the filters of a mailbox. */

import { problemOfName } from '../../accounts/folder.ts';
import { readAll, readEach } from '../../http/json/read-fields.ts';
import { parseMailbox } from '../../mail/address.ts';
import { checkScript } from '../../mail/sieve/check.ts';
import { parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import { compileFilters } from './compile.ts';
import type { Filters } from './filters.ts';
import type { Condition, Rule, Vacation } from './schemas.ts';

/** Maximum number of addresses that mail of a mailbox is sent on to, in all: that of the redirects of a message. */
const MAX_ADDRESSES = 4;
/** Maximum size that a condition names: more than any message has. */
const MAX_SIZE = 2 ** 31 - 1;
/** Maximum size of the script that the filters become. It is checked on the thread that answers requests, in some 20 ms. */
const MAX_COMPILED_BYTES = 64 * 1024;

/**
 * Returns the filters with addresses in the form of the envelope.
 * @throws AppError validation_error
 */
export function readFilters(filters: Filters): Filters {
  const { forwardTo, rules } = readAll({
    vacation: () => requireVacation(filters.vacation),
    forwardTo: () => readEach(filters.forwardTo, (text, index) => readAddress(`forwardTo[${index}]`, text)),
    rules: () => readEach(filters.rules, (rule, index) => readRule(`rules[${index}]`, rule)),
  });
  const addresses = new Set([...forwardTo, ...rules.flatMap((rule) => rule.forwardTo ?? [])]);
  if (addresses.size > MAX_ADDRESSES)
    throw invalid(
      'forwardTo',
      `\`forwardTo\` and the rules name at most ${MAX_ADDRESSES} addresses together`,
    );
  const read = { ...filters, forwardTo, rules };
  requireCompiled(read);
  return read;
}

function requireVacation(vacation: Vacation | null): void {
  if (!vacation) return;
  const from = readTime('vacation.from', vacation.from);
  const until = readTime('vacation.until', vacation.until);
  if (from !== undefined && until !== undefined && until <= from)
    throw invalid('vacation.until', '`vacation.until` must be later than `vacation.from`');
  if (vacation.text.includes('\0')) throw invalid('vacation.text', '`vacation.text` must not contain NUL');
}

function readTime(param: string, text: string | null | undefined): number | undefined {
  if (text == null) return undefined;
  const time = parseTimestamp(text);
  if (time === undefined) throw invalid(param, `\`${param}\` must be a time such as 2026-12-24T08:00:00Z`);
  return time;
}

function readAddress(param: string, text: string): string {
  const mailbox = text.endsWith('>') ? undefined : parseMailbox(text);
  if (!mailbox) throw invalid(param, `\`${param}\` must be one address such as ann@example.com`);
  return mailbox.address;
}

function readRule(path: string, rule: Rule): Rule {
  const { conditions, fileInto, forwardTo, discard } = rule;
  for (const [index, condition] of conditions.entries())
    requireCondition(`${path}.conditions[${index}]`, condition);
  const problem = fileInto === undefined ? undefined : problemOfName(fileInto);
  if (problem !== undefined) throw invalid(`${path}.fileInto`, `\`${path}.fileInto\`: ${problem}`);
  if (discard && fileInto !== undefined)
    throw invalid(`${path}.discard`, `\`${path}\` cannot both discard a message and store it`);
  return forwardTo === undefined ? rule : { ...rule, forwardTo: readAddress(`${path}.forwardTo`, forwardTo) };
}

function requireCondition(path: string, { field, header, value }: Condition): void {
  if (field === 'larger' || field === 'smaller') {
    if (/^\d{1,10}$/.test(value) && Number(value) <= MAX_SIZE) return;
    throw invalid(`${path}.value`, `\`${path}.value\` must be a number of bytes, at most ${MAX_SIZE}`);
  }
  if (field === 'header' && !/^[!-9;-~]+$/.test(header ?? ''))
    throw invalid(`${path}.header`, `\`${path}.header\` must be the name of a header field`);
}

/** A script that the engine would refuse is a bug of the compiler, and is found here and not with the next message. */
function requireCompiled(filters: Filters): void {
  const script = compileFilters(filters);
  if (script === null) return;
  if (Buffer.byteLength(script) > MAX_COMPILED_BYTES)
    throw invalid('rules', `The filters are larger than ${MAX_COMPILED_BYTES} bytes together`);
  const checked = checkScript(script);
  if (checked.kind === 'invalid')
    throw new Error(`the filters of a mailbox became a wrong script: ${checked.errors[0]?.message}`);
}
