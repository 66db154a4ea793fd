/**
 * Tests of parts (RFC 5703): the tags `:mime` and `:anychild` with their options, the loop `foreverypart` with `break`, and the action
 * `extracttext`.
 */
import { decodeWords } from '../../message/decode-words.ts';
import type { HeaderField } from '../../message/header-block.ts';
import { readParameterField } from '../../message/mime-fields.ts';
import type { Call, CommandDefinition, Extension, Tag } from '../definition.ts';
import type { HeaderView } from '../run/header-view.ts';
import type { Flow, Run } from '../run/run.ts';
import type { SievePart } from '../run/sieve-message.ts';
import { readKnownText } from './part-text.ts';
import { MODIFIER_TAGS, modifiersOf, variableArgument } from './variables.ts';

const OPTION = 'mime option';

/** The fields whose values have parts; the others have a blank one (RFC 5703 section 4.1). */
function readField({ name, value }: HeaderField): ReturnType<typeof readParameterField> {
  return name === 'content-type' || name === 'content-disposition' ? readParameterField(value) : undefined;
}

function typeOf(field: HeaderField): string {
  return readField(field)?.value ?? '';
}

const OPTIONS: readonly Tag[] = [
  {
    name: ':type',
    group: OPTION,
    extract: () => (field) => [typeOf(field).split('/')[0] ?? ''],
  },
  {
    name: ':subtype',
    group: OPTION,
    extract: () => (field) => [field.name === 'content-type' ? (typeOf(field).split('/')[1] ?? '') : ''],
  },
  { name: ':contenttype', group: OPTION, extract: () => (field) => [typeOf(field)] },
  {
    name: ':param',
    value: 'texts',
    group: OPTION,
    extract(call) {
      const names = call.texts(':param');
      return (field, run) => {
        const wanted = names.read(run).map((name) => name.toLowerCase());
        const parameters = readParameterField(field.value)?.parameters ?? [];
        return parameters.filter(({ name }) => wanted.includes(name)).map(({ value }) => decodeWords(value));
      };
    },
  },
];

/** Returns the headers of the part of the innermost `foreverypart`, or of the message, and with `:anychild` of the parts inside. */
function headersOf(call: Call): (run: Run) => readonly HeaderView[] {
  if (!call.has(':anychild')) return (run) => [run.part?.header ?? run.message.header];
  call.notes.needsBody = true;
  return (run) => [...descend(run, run.part ?? run.message.root)].map(({ header }) => header);
}

/** Yields a part and those inside, depth first. */
export function* descend(run: Run, part: SievePart): Generator<SievePart> {
  run.spend(1);
  yield part;
  for (const inner of part.parts) yield* descend(run, inner);
}

export const MIME: Extension = {
  name: 'mime',
  tags: [
    {
      on: ['header', 'address', 'exists'],
      tags: [
        { name: ':mime', headers: headersOf },
        { name: ':anychild', needs: ':mime' },
      ],
    },
    { on: ['header'], tags: OPTIONS.map((tag) => ({ ...tag, needs: ':mime' })) },
  ],
};

/** Maximum number of loops around one another. RFC 5703 section 3 asks for two. Our own limit. */
const MAX_LOOPS = 4;

const FOREVERYPART: CommandDefinition = {
  name: 'foreverypart',
  tags: [{ name: ':name', value: 'constant' }],
  hasBlock: true,
  compile(call) {
    const { loops } = call.notes;
    if (loops.length >= MAX_LOOPS) throw call.fault(`loops are nested more than ${MAX_LOOPS} deep`);
    call.notes.needsBody = true;
    const name = call.has(':name') ? call.constant(':name') : undefined;
    loops.push(name);
    const block = call.block();
    loops.pop();
    return (run) => {
      const outer = run.part;
      let flow: Flow;
      // A loop in a loop goes over the parts inside the current one alone.
      const parts = outer ? outer.parts : [run.message.root];
      for (const part of parts.flatMap((inner) => [...descend(run, inner)])) {
        run.part = part;
        flow = block(run);
        if (flow) break;
      }
      run.part = outer;
      return endsHere(flow, name) ? undefined : flow;
    };
  },
};

function endsHere(flow: Flow, name: string | undefined): boolean {
  if (typeof flow !== 'object') return false;
  return flow.break === undefined || flow.break === name;
}

const BREAK: CommandDefinition = {
  name: 'break',
  tags: [{ name: ':name', value: 'constant' }],
  compile(call) {
    const name = call.has(':name') ? call.constant(':name') : undefined;
    const { loops } = call.notes;
    if (loops.length === 0) throw call.fault('`break` stands outside of a loop');
    if (name !== undefined && !loops.includes(name))
      throw call.fault(`no loop here has the name \`${name}\``, ':name');
    const flow = { break: name };
    return () => flow;
  },
};

export const FOREVERYPART_LOOP: Extension = { name: 'foreverypart', commands: [FOREVERYPART, BREAK] };

export const EXTRACTTEXT: Extension = {
  name: 'extracttext',
  commands: [
    {
      name: 'extracttext',
      tags: [...MODIFIER_TAGS, { name: ':first', value: 'number' }],
      parameters: [{ name: 'variable', type: 'constant' }],
      compile(call) {
        if (!call.uses('variables')) throw call.fault('`extracttext` needs `require "variables"`');
        if (call.notes.loops.length === 0) throw call.fault('`extracttext` stands outside of a loop');
        const variable = variableArgument(call, 'variable');
        const modify = modifiersOf(call);
        const maxCharacters = call.has(':first') ? call.number(':first') : Number.POSITIVE_INFINITY;
        return (run) => {
          const { part, message } = run;
          const isText = part?.entity.type === 'text' && part.parts.length === 0;
          const text = isText ? (readKnownText(message.octets, part.entity) ?? '') : '';
          run.spendOnText(text.length);
          variable.write(run, modify([...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join('')));
          return undefined;
        };
      },
    },
  ],
};
