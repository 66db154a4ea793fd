/** The test `body` (RFC 5173). */
import type { MimeEntity } from '../../message/mime-tree.ts';
import type { Call, Extension } from '../compile/definition.ts';
import { MatchValue } from '../match/comparator.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import type { SievePart } from '../run/sieve-message.ts';
import { descend } from './mime.ts';
import { readRawText, readText, readVisibleText } from './part-text.ts';

type ReadTexts = (run: Run) => Iterable<string>;

/** Returns what reads the texts that are compared, each of them alone. */
function textsOf(call: Call): ReadTexts {
  if (call.has(':raw')) return (run) => [readRawText(run.message.octets, run.message.root.entity)];
  if (call.has(':content')) {
    const types = call.texts(':content');
    return (run) => contents(run, types.read(run));
  }
  return visibleTexts;
}

/** Yields the texts that a reader sees (RFC 5173 section 5.3). */
function* visibleTexts(run: Run): Generator<string> {
  for (const { entity, parts } of descend(run, run.message.root))
    if (parts.length === 0 && entity.type === 'text') yield readVisibleText(run.message.octets, entity);
}

/** Yields the bodies of the parts of some types (RFC 5173 section 5.2). */
function* contents(run: Run, types: readonly string[]): Generator<string> {
  const wanted = types.map((type) => type.toLowerCase());
  for (const part of descend(run, run.message.root))
    if (wanted.some((type) => isOfType(part.entity, type))) yield contentOf(run, part);
}

/** An empty type is that of each part, and one without a slash is that of all its subtypes. */
function isOfType({ type, subtype }: MimeEntity, wanted: string): boolean {
  return wanted === '' || wanted === type || wanted === `${type}/${subtype}`;
}

/** The content of a multipart is what stands around its parts, and that of a message its header (RFC 5173 section 5.2). */
function contentOf(run: Run, { entity, parts }: SievePart): string {
  const { octets } = run.message;
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
          const values = Array.from(readTexts(run), (text) => new MatchValue(text));
          for (const { text } of values) run.spendOnText(text.length);
          const isMatch = matches(run, values);
          run.matchValues = matchValues;
          return isMatch;
        };
      },
    },
  ],
};
