/** Tests of the headers of parts: the tags `:mime` and `:anychild` and their options (RFC 5703 section 4). */
import { decodeWords } from '../../message/decode-words.ts';
import type { HeaderField } from '../../message/header-block.ts';
import { readParameterField } from '../../message/mime-fields.ts';
import type { Call, Extension, Tag } from '../compile/definition.ts';
import type { HeaderView } from '../run/header-view.ts';
import type { Run } from '../run/run.ts';
import type { SievePart } from '../run/sieve-message.ts';

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
