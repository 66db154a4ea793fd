/**
 * The base language, which needs no `require` (RFC 5228): the actions `keep`, `discard` and `redirect`, the commands `require` and `stop`,
 * and the tests of logic and of the message. `compile/compiler.ts` knows `if`.
 */
import { ASCII_CASEMAP, OCTET } from '../comparator.ts';
import {
  BASE,
  type CommandDefinition,
  compileOptions,
  type Extension,
  mapTexts,
  type Parameter,
  type TestDefinition,
} from '../definition.ts';
import {
  ADDRESS_PART_TAGS,
  addressPartOf,
  collectFrom,
  fieldValuesOf,
  flatMapFew,
  occurrencesOf,
} from '../match/fields.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Predicate } from '../run/run.ts';
import { readScriptAddress } from './addresses.ts';

const KEEP: CommandDefinition = {
  name: 'keep',
  compile(call) {
    const optionsOf = compileOptions(call);
    return (run) => {
      const flags = optionsOf(run).flags ?? run.flags;
      run.take({ kind: 'keep', ...run.origin(), isImplicit: false, flags });
      return undefined;
    };
  },
};

const DISCARD: CommandDefinition = {
  name: 'discard',
  compile: () => (run) => {
    run.list.isImplicitlyKept = false;
    return undefined;
  },
};

const REDIRECT: CommandDefinition = {
  name: 'redirect',
  parameters: [{ name: 'address', type: 'text' }],
  compile(call) {
    const optionsOf = compileOptions(call);
    // The one list that there is (extlists.ts) can be asked about an address, but not enumerated (RFC 6134 section 2.3).
    if (call.has(':list'))
      return (run) => run.fail('the server cannot send a message to all of an address book');
    const isAddress = (value: string) => readScriptAddress(value) !== undefined;
    const to = call.checkedText('address', isAddress, 'the address of `redirect` must be one email address');
    return (run) => {
      const options = optionsOf(run);
      const address = readScriptAddress(to.read(run)) ?? '';
      run.take({ kind: 'redirect', ...run.origin(), address }, options);
      return undefined;
    };
  },
};

const ACTIONS: readonly CommandDefinition[] = [KEEP, DISCARD, REDIRECT];

/** Capabilities of comparators that every script has (RFC 5228 section 2.7.3). */
const BASE_COMPARATORS: ReadonlySet<string> = new Set(['comparator-i;octet', 'comparator-i;ascii-casemap']);

const REQUIRE: CommandDefinition = {
  name: 'require',
  parameters: [{ name: 'capabilities', type: 'constants' }],
  compile(call) {
    if (!call.notes.mayRequire) throw call.fault('`require` must stand before all other commands');
    const unknown = call
      .constants('capabilities')
      .filter((capability) => !BASE_COMPARATORS.has(capability) && !call.enable(capability));
    if (unknown.length > 0)
      throw call.fault(
        `the server does not have ${unknown.map((name) => `\`${name}\``).join(', ')}`,
        'capabilities',
      );
    return () => undefined;
  },
};

const STOP: CommandDefinition = { name: 'stop', compile: () => () => 'stop' };

const LOGIC: readonly TestDefinition[] = [
  { name: 'true', compile: () => () => true },
  { name: 'false', compile: () => () => false },
  {
    name: 'not',
    tests: 'one',
    compile(call) {
      const test = call.test();
      return (run) => !test(run);
    },
  },
  {
    name: 'allof',
    tests: 'list',
    compile(call) {
      const tests = call.testList();
      return onlyOf(tests) ?? ((run) => tests.every((test) => test(run)));
    },
  },
  {
    name: 'anyof',
    tests: 'list',
    compile(call) {
      const tests = call.testList();
      return onlyOf(tests) ?? ((run) => tests.some((test) => test(run)));
    },
  },
];

/** Returns the test of a list of one: programs that write scripts also join a single test. */
function onlyOf(tests: readonly Predicate[]): Predicate | undefined {
  return tests.length === 1 ? tests[0] : undefined;
}

const HEADER_NAMES: Parameter = { name: 'header names', type: 'texts' };

const toLowerCase = (name: string) => name.toLowerCase();

const HEADER: TestDefinition = {
  name: 'header',
  tags: MATCH_TAGS,
  parameters: [HEADER_NAMES, KEYS],
  compile(call) {
    const names = mapTexts(call.texts(HEADER_NAMES.name), toLowerCase);
    const valuesOf = fieldValuesOf(call);
    const collect = collectFrom(call, (run, header) => valuesOf(run, header, names.read(run)));
    const matches = compileMatcher(call);
    return (run) => matches(run, collect(run));
  },
};

/** Fields that contain addresses (RFC 5228 section 5.1): those of RFC 5322, and others that mail programs write. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'return-path', 'delivered-to', 'errors-to'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc'],
  ...['envelope-to', 'x-envelope-to', 'x-envelope-from', 'x-original-to', 'x-forwarded-to', 'apparently-to'],
  ...['disposition-notification-to', 'mail-followup-to', 'mail-reply-to', 'original-recipient'],
]);

const ADDRESS: TestDefinition = {
  name: 'address',
  tags: [...MATCH_TAGS, ...ADDRESS_PART_TAGS],
  parameters: [HEADER_NAMES, KEYS],
  compile(call) {
    const names = mapTexts(call.texts(HEADER_NAMES.name), toLowerCase);
    const wrong = names.constants?.find((name) => !ADDRESS_FIELDS.has(name));
    if (wrong !== undefined)
      throw call.fault(`the field \`${wrong}\` does not contain addresses`, HEADER_NAMES.name);
    const choose = occurrencesOf(call);
    const part = addressPartOf(call);
    const collect = collectFrom(call, (run, header) => {
      const fields = flatMapFew(names.read(run), (name) =>
        ADDRESS_FIELDS.has(name) ? header.addressParts(name, part) : [],
      );
      return flatMapFew(choose(fields), (values) => values);
    });
    const matches = compileMatcher(call);
    return (run) => matches(run, collect(run));
  },
};

const EXISTS: TestDefinition = {
  name: 'exists',
  parameters: [HEADER_NAMES],
  compile(call) {
    const names = mapTexts(call.texts(HEADER_NAMES.name), toLowerCase);
    const headersOf = call.tags.find((tag) => tag.headers)?.headers?.(call);
    return (run) => {
      const headers = headersOf?.(run) ?? [run.message.header];
      return names.read(run).every((name) => headers.some((header) => header.has(name)));
    };
  },
};

const SIZE: TestDefinition = {
  name: 'size',
  tags: [
    { name: ':over', group: 'relation' },
    { name: ':under', group: 'relation' },
  ],
  parameters: [{ name: 'limit', type: 'number' }],
  compile(call) {
    const relation = call.tagOf('relation');
    if (!relation) throw call.fault('`size` needs `:over` or `:under`');
    const limit = call.number('limit');
    return relation.name === ':over'
      ? (run) => run.message.sizeBytes > limit
      : (run) => run.message.sizeBytes < limit;
  },
};

const MESSAGE_TESTS: readonly TestDefinition[] = [HEADER, ADDRESS, EXISTS, SIZE];

export const BASE_LANGUAGE: Extension = {
  name: BASE,
  commands: [REQUIRE, STOP, ...ACTIONS],
  comparators: [OCTET, ASCII_CASEMAP],
  tests: [...LOGIC, ...MESSAGE_TESTS],
};
