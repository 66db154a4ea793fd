/**
 * Rules of prose, which people hold and no test: `npm run check` prints what they find as a note for the review.
 */
import { fileURLToPath } from 'node:url';
import { readSources, type Source } from './source.ts';

/**
 * Openings that refer to something outside the comment, or that make a fragment of it. A comment is read alone and names
 * what it is about.
 */
const DANGLING_OPENINGS =
  /^(?:@\w+|Also|And|As|Asked|Besides|But|For|From|Hers|His|It|Its|Like the|Nobody|Nor|Null|Of|Or|Ours|Said|The (?:last|latter|others?|rest|same)|Their|Theirs|Them|They|Those|Told|Undefined|What|Whatever|When it|Whence|Where|Whether|Which|Who|Whoever|Whom|Whose|RFC \d+|Specification \d+|\w+\.md)\b/;

function danglingComments(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, comments }) =>
    comments
      .filter((comment) => DANGLING_OPENINGS.test(comment))
      .map((comment) => `${path}: a comment cannot be read alone: "${comment.slice(0, 50)}"`),
  );
}

/** Exported functions say what they return, their units, their errors and their source. */
function undocumentedFunctions(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !path.endsWith('.d.ts'))
    .flatMap(({ path, text }) =>
      firstDeclarations(text)
        .filter(({ isDocumented }) => !isDocumented)
        .map(({ name }) => `${path}: ${name} has no docstring`),
    );
}

/**
 * Finds exported functions and operations of the database. The docstring of an overloaded function stands before its
 * first signature.
 */
function firstDeclarations(text: string): { name: string; isDocumented: boolean }[] {
  const declarations =
    /(\*\/\n)?^export (?:(?:async )?function\*? (\w+)|const (\w+) = define(?:Write|Read)\b)/gm;
  const found = [...text.matchAll(declarations)].map(([, docstring, func, operation]) => ({
    name: func ?? operation ?? '',
    isDocumented: docstring !== undefined,
  }));
  return found.filter(({ name }, index) => name !== found[index - 1]?.name);
}

/** Each limit says what it limits and where it comes from. Constants right below one another may share a comment. */
function unexplainedLimits(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /(?<!\*\/\n|\n(?:export )?const [A-Z_]+ = .*\n)^(?:export )?const (M(?:AX|IN)_\w+) =/gm,
      ),
    ].map(([, name]) => `${path}: ${name} has no comment`),
  );
}

/** Returns a note for each comment or declaration that a reader of the sources would stumble over. */
export function notesOn(sources: readonly Source[]): string[] {
  return [danglingComments, undocumentedFunctions, unexplainedLimits].flatMap((rule) => rule(sources));
}

if (import.meta.main) {
  const notes = ['../../src', '../support'].flatMap((folder) =>
    notesOn(readSources(fileURLToPath(new URL(folder, import.meta.url)))),
  );
  if (notes.length > 0) console.log(['Notes for the review of the prose:', ...notes].join('\n'));
}
