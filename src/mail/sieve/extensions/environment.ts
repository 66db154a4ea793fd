/**
 * The tests of what the caller of the run knows: `environment` (RFC 5183), `spamtest` with its extension `:percent` (RFC 5235), `duplicate`
 * (RFC 7352), and those of annotations (RFC 5490).
 */

import { createHash } from 'node:crypto';
import { MatchValue } from '../comparator.ts';
import type { Call, Extension, Parameter, TestDefinition } from '../definition.ts';
import { compileMatcher, countsValues, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';

export const ENVIRONMENT: Extension = {
  name: 'environment',
  tests: [
    {
      name: 'environment',
      tags: MATCH_TAGS,
      parameters: [{ name: 'name', type: 'text' }, KEYS],
      compile(call) {
        const name = call.text('name');
        const matches = compileMatcher(call);
        const isCount = countsValues(call);
        return (run) => {
          const items = new Map(Object.entries(run.input.environment));
          const value = items.get(name.read(run).toLowerCase());
          if (value === undefined) return false;
          return matches(run, isCount && value === '' ? [] : [new MatchValue(value)]);
        };
      },
    },
  ],
};

const PERCENT = ':percent';

/** Returns 1 for a message that is surely no spam, and up to 10 for one that surely is. */
function scoreOf(percent: number): number {
  return 1 + Math.round((Math.min(Math.max(percent, 0), 100) * 9) / 100);
}

export const SPAMTEST: Extension = {
  name: 'spamtest',
  tests: [
    {
      name: 'spamtest',
      tags: MATCH_TAGS,
      parameters: [{ name: 'value', type: 'text' }],
      compile(call) {
        const matches = compileMatcher(call, call.texts('value'));
        const showsPercent = call.has(PERCENT);
        const isCount = countsValues(call);
        return (run) => {
          const { spamPercent } = run.input;
          if (spamPercent !== undefined)
            return matches(run, [new MatchValue(String(showsPercent ? spamPercent : scoreOf(spamPercent)))]);
          // A message that was not tested has the value 0, and is counted as none (RFC 5235 section 3.1).
          return matches(run, isCount ? [] : [new MatchValue('0')]);
        };
      },
    },
  ],
};

export const SPAMTESTPLUS: Extension = {
  name: 'spamtestplus',
  implies: ['spamtest'],
  tags: [{ on: ['spamtest'], tags: [{ name: PERCENT }] }],
};

/** The test `duplicate` (RFC 7352). */
const DAY_SECONDS = 86_400;
/** Time for which a key is remembered when the script names none (RFC 7352 section 3.3). */
const DEFAULT_SECONDS = 7 * DAY_SECONDS;
/** Maximum time. A script that asks for more gets this (RFC 7352 section 3.3). */
const MAX_SECONDS = 30 * DAY_SECONDS;
/** Maximum number of keys that one run remembers. */
const MAX_KEYS = 32;

/** Returns what reads the id of the message; undefined when it has none. */
function idOf(call: Call): (run: Run) => string | undefined {
  if (call.has(':uniqueid')) return call.text(':uniqueid').read;
  const name = call.has(':header') ? call.text(':header') : undefined;
  return (run) => run.message.header.values((name?.read(run) ?? 'message-id').toLowerCase())[0]?.text;
}

export const DUPLICATE: Extension = {
  name: 'duplicate',
  tests: [
    {
      name: 'duplicate',
      tags: [
        { name: ':handle', value: 'text' },
        { name: ':header', value: 'text', group: 'id' },
        { name: ':uniqueid', value: 'text', group: 'id' },
        { name: ':seconds', value: 'number' },
        { name: ':last' },
      ],
      compile(call) {
        const readId = idOf(call);
        const handle = call.has(':handle') ? call.text(':handle') : undefined;
        const given = call.has(':seconds') ? call.number(':seconds') : DEFAULT_SECONDS;
        const seconds = Math.min(given, MAX_SECONDS);
        const isMeasuredFromLast = call.has(':last');
        return (run) => {
          const id = readId(run);
          if (id === undefined || seconds === 0) return false;
          const parts = JSON.stringify([handle?.read(run) ?? null, id]);
          const key = createHash('sha256').update(parts).digest('hex');
          const isDuplicate = run.duplicates.has(key);
          if (!isDuplicate || isMeasuredFromLast) remember(run, key, seconds);
          return isDuplicate;
        };
      },
    },
  ],
};

function remember(run: Run, key: string, seconds: number): void {
  if (run.remembered.some((other) => other.key === key)) return;
  if (run.remembered.length >= MAX_KEYS) run.fail(`a script may remember ${MAX_KEYS} keys of \`duplicate\``);
  run.remembered.push({ key, seconds });
}

/** Tests of annotations of mailboxes and of the server (RFC 5490 sections 3 and 4). */
const MAILBOX: Parameter = { name: 'mailbox', type: 'text' };
const ENTRY: Parameter = { name: 'annotation name', type: 'text' };
const ENTRIES: Parameter = { name: 'annotation names', type: 'texts' };

/** Returns what names the mailbox of a test; an empty name stands for the server. */
function mailboxOf(call: Call): (run: Run) => string {
  if (!call.has(MAILBOX.name)) return () => '';
  const mailbox = call.text(MAILBOX.name);
  return (run) => mailbox.read(run);
}

function compareTest(name: string, subject: readonly Parameter[]): TestDefinition {
  return {
    name,
    tags: MATCH_TAGS,
    parameters: [...subject, ENTRY, KEYS],
    compile(call) {
      const mailbox = mailboxOf(call);
      const entry = call.text(ENTRY.name);
      const matches = compileMatcher(call);
      return (run) => {
        const value = run.annotationsOf(mailbox(run)).get(entry.read(run).toLowerCase());
        return matches(run, value === undefined ? [] : [new MatchValue(value)]);
      };
    },
  };
}

function existsTest(name: string, subject: readonly Parameter[]): TestDefinition {
  return {
    name,
    parameters: [...subject, ENTRIES],
    compile(call) {
      const mailbox = mailboxOf(call);
      const entries = call.texts(ENTRIES.name);
      return (run) => {
        const known = run.annotationsOf(mailbox(run));
        return entries.read(run).every((entry) => known.has(entry.toLowerCase()));
      };
    },
  };
}

export const MBOXMETADATA: Extension = {
  name: 'mboxmetadata',
  tests: [compareTest('metadata', [MAILBOX]), existsTest('metadataexists', [MAILBOX])],
};

export const SERVERMETADATA: Extension = {
  name: 'servermetadata',
  tests: [compareTest('servermetadata', []), existsTest('servermetadataexists', [])],
};
