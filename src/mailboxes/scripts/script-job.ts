/**
 * The jobs for the threads of scripts: a job checks a script, or runs the scripts of a mailbox for one message. Jobs and results are plain
 * data, and `runJob` is called inside the threads (script-thread.ts).
 */
import { LRUCache } from 'lru-cache';
import type { Action } from '../../mail/sieve/actions.ts';
import { checkScript } from '../../mail/sieve/check.ts';
import type { Question, RememberedKey } from '../../mail/sieve/run/question.ts';
import type { CheckedScript, RunInput, Script, ScriptName } from '../../mail/sieve/run/run.ts';
import { runScript } from '../../mail/sieve/run-script.ts';

/** A script with the name that its owner knows it by. */
export type NamedScript = { name: string; content: string };

/** A run of scripts for one message: each one runs only when the one before it keeps the message in INBOX by itself. */
export type RunJob = Omit<RunInput, 'scripts' | 'earlier'> & {
  kind: 'run';
  scripts: readonly NamedScript[];
  /** False when `message` has the header alone. */
  isWhole: boolean;
  /** Scripts that the others include, by `<location>/<name>`. Undefined until they were asked for. */
  included: readonly NamedScript[] | undefined;
};

/** A script as a thread gets it: without its content once a thread has compiled it, because the content is larger than most headers. */
export type SentScript = { name: string; key: string; content: string | undefined };

type SentRun = Omit<RunJob, 'scripts' | 'included'> & {
  scripts: readonly SentScript[];
  included: readonly SentScript[] | undefined;
};

export type ScriptJob = SentRun | { kind: 'check'; content: string };

/** Why the scripts failed. `script` is the name of the script; `line` counts from 1. */
export type ScriptFailure = { script: string; line: number; message: string };

export type ScriptResult =
  | { kind: 'done'; actions: readonly Action[]; remembered: readonly RememberedKey[] }
  | { kind: 'failed'; failure: ScriptFailure }
  /** The job is to be repeated with the answer. */
  | { kind: 'question'; question: Question }
  /** The job is to be repeated with the whole message, or with the scripts that the others may include. */
  | { kind: 'needs'; what: 'body' | 'scripts' }
  /** The job is to be repeated with the contents of the scripts. */
  | { kind: 'unknown' }
  /** Result of a check: what is wrong with the script; undefined when it is correct. */
  | { kind: 'checked'; problem: string | undefined };

/** Size of the texts whose compiled scripts a thread remembers. Our own limit: a compiled script takes some 45 times the size of its text. */
const MAX_REMEMBERED_CHARACTERS = 1024 * 1024;

const compiled = new LRUCache<string, CheckedScript>({ maxSize: MAX_REMEMBERED_CHARACTERS });

/** Returns the script; undefined when it was not compiled here, and its content is not known. */
function compile({ key, content }: SentScript): CheckedScript | undefined {
  const known = compiled.get(key);
  if (known || content === undefined) return known;
  const script = checkScript(content);
  compiled.set(key, script, { size: content.length + 1 });
  return script;
}

/** Does a job. It depends on the job alone. */
export function runJob(job: ScriptJob): ScriptResult {
  if (job.kind === 'check') return { kind: 'checked', problem: problemOf(checkScript(job.content)) };
  return runAll(job);
}

/** Returns the errors, one in a line; undefined when there are none. */
function problemOf(script: CheckedScript): string | undefined {
  if (script.kind === 'valid') return undefined;
  return script.errors
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`)
    .join('\r\n');
}

function runAll(job: SentRun): ScriptResult {
  const included = new Map<string, CheckedScript>();
  for (const one of job.included ?? []) {
    const script = compile(one);
    if (!script) return { kind: 'unknown' };
    included.set(one.name, script);
  }
  const actions: Action[] = [];
  const remembered: RememberedKey[] = [];
  for (const [index, sent] of job.scripts.entries()) {
    const { name } = sent;
    const script = compile(sent);
    if (!script) return { kind: 'unknown' };
    if (script.kind === 'invalid') return failure(name, script.errors[0]);
    const needed = needsOf(script.script, included);
    if (needed.scripts && job.included === undefined) return { kind: 'needs', what: 'scripts' };
    if (needed.body && !job.isWhole) return { kind: 'needs', what: 'body' };
    const outcome = runScript(script.script, { ...job, scripts: included, earlier: actions });
    if (outcome.kind === 'question') return outcome;
    if (outcome.kind === 'failed') return failure(outcome.error.script ?? name, outcome.error);
    remembered.push(...outcome.remembered);
    const isLast = index === job.scripts.length - 1;
    const isKept = outcome.actions.some((action) => action.kind === 'keep' && action.isImplicit);
    actions.push(...outcome.actions.filter((action) => isLast || !isKept || !isImplicitKeep(action)));
    if (!isKept) break;
  }
  return { kind: 'done', actions, remembered };
}

function isImplicitKeep(action: Action): boolean {
  return action.kind === 'keep' && action.isImplicit;
}

function failure(script: string, error: { line: number; message: string } | undefined): ScriptResult {
  return { kind: 'failed', failure: { script, line: error?.line ?? 0, message: error?.message ?? '' } };
}

/** Returns what a script needs with all that it includes, as far as that is known. */
function needsOf(
  script: Script,
  included: ReadonlyMap<string, CheckedScript>,
): { body: boolean; scripts: boolean } {
  const seen = new Set<string>();
  const keyOf = ({ location, name }: ScriptName): string => `${location}/${name}`;
  const waiting = [script];
  let body = false;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    body ||= next.needsBody;
    for (const key of next.includes.map(keyOf)) {
      if (seen.has(key)) continue;
      seen.add(key);
      const found = included.get(key);
      if (found?.kind === 'valid') waiting.push(found.script);
    }
  }
  return { body, scripts: script.includes.length > 0 };
}
