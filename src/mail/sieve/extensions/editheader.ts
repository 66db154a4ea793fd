/** The actions `addheader` and `deleteheader` (RFC 5293). */
import { isFieldName, textField } from '../../message/headers.ts';
import { isTraceField } from '../../trace-fields.ts';
import type { Call, CommandDefinition, Extension } from '../definition.ts';
import { occurrencesOf } from '../match/fields.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { HeaderLines } from '../run/header-view.ts';
import type { Run } from '../run/run.ts';

/** Field that a script cannot remove either, because it tells automatic mail from other mail (RFC 5293 section 6). */
const AUTO_SUBMITTED = 'auto-submitted';
/** Maximum length of a value. RFC 5293 section 4 asks for 998. Our own limit. */
const MAX_VALUE_CHARACTERS = 4_096;

const INVALID_NAME = 'this is not the name of a header field';

const ADD: CommandDefinition = {
  name: 'addheader',
  tags: [{ name: ':last' }],
  parameters: [
    { name: 'field name', type: 'text' },
    { name: 'value', type: 'text' },
  ],
  compile(call) {
    const name = call.checkedText('field name', isFieldName, INVALID_NAME);
    const value = call.text('value');
    const isLast = call.has(':last');
    return (run) => {
      const field = makeField(run, name.read(run), value.read(run));
      // Fields that tell loops from other mail, and that others trust, are left to servers.
      if (isTraceField(field.name)) return undefined;
      edit(run, isLast ? [...run.whole.fields, field] : [field, ...run.whole.fields]);
      return undefined;
    };
  },
};

/** Line ends and other white space in a value become one space each. */
function makeField(run: Run, name: string, value: string): HeaderLines {
  const text = value.replace(/[\s\0]+/g, ' ').trim();
  if (text.length > MAX_VALUE_CHARACTERS)
    return run.fail(`a header field may have ${MAX_VALUE_CHARACTERS} characters`);
  const lines = Buffer.from(textField(name, text));
  return { name: name.toLowerCase(), lines, valueStart: name.length + 1 };
}

function edit(run: Run, fields: readonly HeaderLines[]): void {
  run.spend(fields.length);
  if (!run.whole.edit(fields)) run.fail('the header becomes too large');
}

const DELETE: CommandDefinition = {
  name: 'deleteheader',
  tags: [...MATCH_TAGS, { name: ':index', value: 'number' }, { name: ':last', needs: ':index' }],
  parameters: [
    { name: 'field name', type: 'text' },
    { ...KEYS, isOptional: true },
  ],
  compile(call) {
    const name = call.checkedText('field name', isFieldName, INVALID_NAME);
    const choose = occurrencesOf(call);
    const isMatch = matcherOf(call);
    return (run) => {
      const field = name.read(run).toLowerCase();
      if (isTraceField(field) || field === AUTO_SUBMITTED) return undefined;
      const { fields, header } = run.whole;
      const named = fields.filter((lines) => lines.name === field);
      const values = header.values(field);
      const candidates = choose(named.map((lines, index) => ({ lines, value: values[index] })));
      const removed = new Set(
        candidates.filter(({ value }) => value && isMatch(run, [value])).map(({ lines }) => lines),
      );
      if (removed.size > 0)
        edit(
          run,
          fields.filter((lines) => !removed.has(lines)),
        );
      return undefined;
    };
  },
};

/** Returns the comparison with the patterns; without them, each occurrence matches. */
function matcherOf(call: Call): ReturnType<typeof compileMatcher> {
  if (call.has(KEYS.name)) return compileMatcher(call);
  const tag = call.tags.find(({ name, group }) => group === 'match type' || name === ':comparator');
  if (tag) throw call.fault(`\`${tag.name}\` needs patterns of values`, tag.name);
  return () => true;
}

export const EDITHEADER: Extension = { name: 'editheader', commands: [ADD, DELETE] };
