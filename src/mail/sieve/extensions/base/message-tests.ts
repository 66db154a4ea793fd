/** Tests of the message: `header`, `address`, `exists` and `size` (RFC 5228 section 5). */
import type { Parameter, TestDefinition } from '../../compile/definition.ts';
import { mapTexts } from '../../compile/text.ts';
import { ADDRESS_PART_TAGS, addressPartOf } from '../../match/address-parts.ts';
import { collectFrom, fieldValuesOf, flatMapFew, occurrencesOf } from '../../match/fields.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../../match/match-types.ts';

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

export const MESSAGE_TESTS: readonly TestDefinition[] = [HEADER, ADDRESS, EXISTS, SIZE];
