/** The test `body` (RFC 5173). */
import type { MimeEntity } from '../../message/mime-tree.ts';
import type { Call, Extension } from '../compile/definition.ts';
import type { MatchValue } from '../match/comparator.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import type { SievePart, TextKind } from '../run/sieve-message.ts';
import { descend } from './mime.ts';
import { readRawText, readText, readVisibleText } from './part-text.ts';

type ReadTexts = (run: Run) => Iterable<MatchValue>;

/** Returns what reads the texts that are compared, each of them alone. */
function textsOf(call: Call): ReadTexts {
  if (call.has(':raw')) return rawTexts;
  if (call.has(':content')) {
    const types = call.texts(':content');
    return (run) => contents(run, types.read(run));
  }
  return visibleTexts;
}

function rawTexts(run: Run): MatchValue[] {
  return [readOnce(run, run.message.root, 'raw')];
}

/** Yields the texts that a reader sees (RFC 5173 section 5.3). */
function* visibleTexts(run: Run): Generator<MatchValue> {
  for (const part of descend(run, run.message.root))
    if (part.parts.length === 0 && part.entity.type === 'text') yield readOnce(run, part, 'visible');
}

/** Yields the bodies of the parts of some types (RFC 5173 section 5.2). */
function* contents(run: Run, types: readonly string[]): Generator<MatchValue> {
  const wanted = types.map((type) => type.toLowerCase());
  for (const part of descend(run, run.message.root))
    if (wanted.some((type) => isOfType(part.entity, type))) yield readOnce(run, part, 'content');
}

type ReadText = (octets: Buffer, part: SievePart) => string;

const READERS: Readonly<Record<TextKind, ReadText>> = {
  raw: (octets, { entity }) => readRawText(octets, entity),
  visible: (octets, { entity }) => readVisibleText(octets, entity),
  content: readContent,
};

/** Returns a text of a part. Reading it counts as work once, as it is done once. */
function readOnce(run: Run, part: SievePart, kind: TextKind): MatchValue {
  const { message } = run;
  return message.textOf(kind, part.entity, () => {
    const text = READERS[kind](message.octets, part);
    run.spendOnText(text.length);
    return text;
  });
}

/** An empty type is that of each part, and one without a slash is that of all its subtypes. */
function isOfType({ type, subtype }: MimeEntity, wanted: string): boolean {
  return wanted === '' || wanted === type || wanted === `${type}/${subtype}`;
}

/** The content of a multipart is what stands around its parts, and that of a message its header (RFC 5173 section 5.2). */
function readContent(octets: Buffer, { entity, parts }: SievePart): string {
  const inner = parts.map((part) => part.entity);
  const [first] = inner;
  const last = inner.at(-1);
  if (!first || !last) return readText(octets, entity);
  if (entity.message) return octets.toString('utf8', first.header, first.body);
  return octets.toString('utf8', entity.body, first.header) + octets.toString('utf8', last.end, entity.end);
}

export const BODY: Extension = {
  name: 'body',
  tests: [
    {
      name: 'body',
      tags: [
        ...MATCH_TAGS,
        { name: ':raw', group: 'body transform' },
        { name: ':content', value: 'texts', group: 'body transform' },
        { name: ':text', group: 'body transform' },
      ],
      parameters: [KEYS],
      compile(call) {
        call.notes.needsBody = true;
        const readTexts = textsOf(call);
        const matches = compileMatcher(call);
        return (run) => {
          // The test leaves the match variables as they are (RFC 5173 section 6).
          const { matchValues } = run;
          const isMatch = matches(run, [...readTexts(run)]);
          run.matchValues = matchValues;
          return isMatch;
        };
      },
    },
  ],
};
