/**
 * The jobs for the threads of scripts: a job checks a script, or runs the scripts of mailboxes of a tenant, each for one message. Jobs and
 * answers are plain data, and `doJob` is called inside the threads (script-thread.ts).
 */
import type { Action } from '../../mail/sieve/actions.ts';
import { checkScript } from '../../mail/sieve/check.ts';
import type { Annotations, KnownContact, NeededInput } from '../../mail/sieve/run/account.ts';
import type { CheckedScript, RememberedKey, RunInput, Script, ScriptName } from '../../mail/sieve/run/run.ts';
import { runScript } from '../../mail/sieve/run-script.ts';
import type { Clock } from '../../system/clock.ts';
import { SharedCache } from '../../system/shared-cache.ts';
import type { NamedScript } from './named-script.ts';

/** A run of scripts for one message: each one runs only when the one before it keeps the message in INBOX by itself. */
export type RunJob = Omit<RunInput, 'scripts' | 'earlier' | 'annotations' | 'contacts'> & {
  annotations: readonly Annotations[];
  contacts: readonly KnownContact[];
  scripts: readonly NamedScript[];
  /** False when `message` has the header alone. */
  isWhole: boolean;
  /** Scripts that the others include, by `<location>/<name>`, as far as they were asked for. */
  included: readonly NamedScript[];
  /** Names of those that were asked for and do not exist. */
  missing: readonly string[];
};

/** A script as a thread gets it: without its content once a thread has compiled it, because the content is larger than most headers. */
export type SentScript = Omit<NamedScript, 'content'> & { content: string | undefined };

export type SentRun = Omit<RunJob, 'scripts' | 'included'> & {
  /** The tenant, which has a share of the compiled scripts. */
  owner: string;
  scripts: readonly SentScript[];
  included: readonly SentScript[];
};

export type ScriptJob = { kind: 'run'; runs: readonly SentRun[] } | { kind: 'check'; content: string };

/** Why the scripts failed. `script` is the name of the script; `line` counts from 1. */
export type ScriptFailure = { script: string; line: number; message: string };

/** The whole message, what the scripts ask about, or scripts that the others include: a job is repeated with them. */
export type Needed = { what: 'body' } | { what: 'scripts'; names: readonly string[] } | NeededInput;

export type ScriptResult =
  /** `remembered` has the keys that the scripts took for new: the job is to be repeated when a message with one of them came before. */
  | { kind: 'done'; actions: readonly Action[]; remembered: readonly RememberedKey[] }
  | { kind: 'failed'; failure: ScriptFailure; remembered: readonly RememberedKey[] }
  | ({ kind: 'needs' } & Needed)
  /** The job is to be repeated with the contents of the scripts. */
  | { kind: 'unknown' };

export type ScriptAnswer =
  /** Results of the first of the runs, of at least one: the others are to be sent again. */
  | { kind: 'ran'; results: readonly ScriptResult[] }
  /** The problem of a script; undefined when it is correct. */
  | { kind: 'checked'; problem: string | undefined };

/** Time after which no further run of a job begins, in milliseconds, so that those of another tenant have their turn. */
const JOB_MS = 5;

/**
 * Size of the texts whose compiled scripts a thread remembers, of which each tenant has a share: a compiled script takes some
 * 45 times the size of its text.
 */
const MAX_REMEMBERED_CHARACTERS = 1024 * 1024;

/** Size of a text that takes the memory of an instruction of a regular expression, in characters. */
const CHARACTERS_PER_INSTRUCTION = 2;

const compiled = new SharedCache<CheckedScript>(MAX_REMEMBERED_CHARACTERS);

/** Returns the script; undefined when it was not compiled here for its owner, and its content is not known. */
function compile(owner: string, { key, content }: SentScript): CheckedScript | undefined {
  const known = compiled.get(owner, key);
  if (known || content === undefined) return known;
  const script = checkScript(content);
  const regexSize = script.kind === 'valid' ? script.script.regexSize : 0;
  compiled.set(owner, key, {
    value: script,
    bytes: content.length + regexSize * CHARACTERS_PER_INSTRUCTION,
  });
  return script;
}

/** Does a job. Its answer depends on the job alone, except for how many of the runs there is time for. */
export function doJob(job: ScriptJob, clock: Pick<Clock, 'elapsed'>): ScriptAnswer {
  if (job.kind === 'check') return { kind: 'checked', problem: problemOf(checkScript(job.content)) };
  const endsAt = clock.elapsed() + JOB_MS;
  const results: ScriptResult[] = [];
  for (const run of job.runs) {
    results.push(runScripts(run));
    if (clock.elapsed() >= endsAt) break;
  }
  return { kind: 'ran', results };
}

/** Returns the errors, one in a line; undefined when there are none. */
function problemOf(script: CheckedScript): string | undefined {
  if (script.kind === 'valid') return undefined;
  return script.errors
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`)
    .join('\r\n');
}

/** Runs the scripts of a mailbox for one message. */
function runScripts(job: SentRun): ScriptResult {
  const included = new Map<string, CheckedScript>();
  for (const one of job.included) {
    const script = compile(job.owner, one);
    if (!script) return { kind: 'unknown' };
    included.set(one.name, script);
  }
  const actions: Action[] = [];
  const remembered: RememberedKey[] = [];
  for (const [index, sent] of job.scripts.entries()) {
    const { name } = sent;
    const script = compile(job.owner, sent);
    if (!script) return { kind: 'unknown' };
    if (script.kind === 'invalid')
      return { kind: 'failed', failure: failureOf(name, script.errors[0]), remembered };
    const { names, body } = needsOf(script.script, included);
    const unknown = names.filter((key) => !included.has(key) && !job.missing.includes(key));
    if (unknown.length > 0) return { kind: 'needs', what: 'scripts', names: unknown };
    if (body && !job.isWhole) return { kind: 'needs', what: 'body' };
    const outcome = runScript(script.script, { ...job, scripts: included, earlier: actions });
    if (outcome.kind === 'needs') return { kind: 'needs', ...outcome.needed };
    remembered.push(...outcome.remembered);
    if (outcome.kind === 'failed') {
      const { error } = outcome;
      return { kind: 'failed', failure: failureOf(error.script ?? name, error), remembered };
    }
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

function failureOf(script: string, error: { line: number; message: string } | undefined): ScriptFailure {
  return { script, line: error?.line ?? 0, message: error?.message ?? '' };
}

/** Returns what a script needs with all that it includes, as far as that is known: the body, and scripts by their names. */
function needsOf(
  script: Script,
  included: ReadonlyMap<string, CheckedScript>,
): { body: boolean; names: readonly string[] } {
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
  return { body, names: [...seen] };
}
