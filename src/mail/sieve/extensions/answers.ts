/**
 * Actions that answer the sender: `vacation` (RFC 5230), with times in seconds (RFC 6131), and `reject` and `ereject` (RFC 5429); and the tag
 * `:fcc`, which files a copy of what an action sends (RFC 8580).
 */
import { createHash } from 'node:crypto';
import type { Target } from '../actions.ts';
import {
  type Call,
  type CommandDefinition,
  compileOptions,
  type Extension,
  type Text,
  textOptionTag,
} from '../definition.ts';
import { type ActionOptions, targetOf } from '../run/action-list.ts';
import { readScriptAddress, readScriptMailbox } from './addresses.ts';
import { isMailboxName } from './mailboxes.ts';

const FILE_COPY_TAG = {
  name: ':fcc',
  isValid: isMailboxName,
  problem: '`:fcc` needs the name of a mailbox',
};

export const FCC: Extension = {
  name: 'fcc',
  tags: [
    {
      on: ['vacation', 'notify'],
      tags: [
        textOptionTag(FILE_COPY_TAG, (options, mailbox) => {
          options.fileCopyInto = mailbox;
        }),
      ],
    },
  ],
};

/** Tags of `fileinto` that say how the copy is filed. */
const TARGET_TAGS: readonly string[] = [':flags', ':create', ':mailboxid', ':specialuse'];

/**
 * Checks that a call has `:fcc` when it says how the copy is filed.
 * @throws ScriptFault when it does not
 */
export function checkCopyTags(call: Call): void {
  const tag = TARGET_TAGS.find((name) => call.has(name));
  if (tag !== undefined && !call.has(':fcc')) throw call.fault(`\`${tag}\` needs \`:fcc\``, tag);
}

/** Returns where the copy is filed, if one is. */
export function copyTarget(options: ActionOptions): Target | undefined {
  const { fileCopyInto, flags = [] } = options;
  return fileCopyInto === undefined ? undefined : targetOf(fileCopyInto, options, flags);
}

function rejectCommand(name: string, { prefersProtocol }: { prefersProtocol: boolean }): CommandDefinition {
  return {
    name,
    parameters: [{ name: 'reason', type: 'text' }],
    compile(call) {
      const reason = call.text('reason');
      return (run) => {
        run.take({ kind: 'reject', ...run.origin(), reason: reason.read(run), prefersProtocol });
        return undefined;
      };
    },
  };
}

export const REJECT: Extension = {
  name: 'reject',
  commands: [rejectCommand('reject', { prefersProtocol: false })],
};

export const EREJECT: Extension = {
  name: 'ereject',
  commands: [rejectCommand('ereject', { prefersProtocol: true })],
};

const DAY_SECONDS = 86_400;
/** Time between two answers to one sender when the script names none (RFC 5230 section 4.1). */
const DEFAULT_DAYS = 7;
/**
 * Limits on that time. RFC 5230 section 4.1 and RFC 6131 section 2 allow them, and ask for a maximum of at least 30 days. Values beyond
 * them become these.
 */
const MAX_SECONDS = 365 * DAY_SECONDS;
const MIN_SECONDS = 60;
/** Largest number of seconds that is valid (RFC 6131 section 2). */
const MAX_VALID_SECONDS = 2 ** 31;

function secondsOf(call: Call): number {
  if (call.has(':seconds') && call.number(':seconds') > MAX_VALID_SECONDS)
    throw call.fault(`\`:seconds\` is at most ${MAX_VALID_SECONDS}`, ':seconds');
  const days = call.has(':days') ? Math.max(1, call.number(':days')) : DEFAULT_DAYS;
  const seconds = call.has(':seconds') ? call.number(':seconds') : days * DAY_SECONDS;
  return Math.min(Math.max(seconds, MIN_SECONDS), MAX_SECONDS);
}

const COMMAND: CommandDefinition = {
  name: 'vacation',
  tags: [
    { name: ':days', value: 'number', group: 'time' },
    { name: ':subject', value: 'text' },
    { name: ':from', value: 'text' },
    { name: ':addresses', value: 'texts' },
    { name: ':mime' },
    { name: ':handle', value: 'text' },
  ],
  parameters: [{ name: 'reason', type: 'text' }],
  compile(call) {
    checkCopyTags(call);
    const optionsOf = compileOptions(call);
    const seconds = secondsOf(call);
    const isMime = call.has(':mime');
    const subject = call.has(':subject') ? call.text(':subject') : undefined;
    const from = fromOf(call);
    const addresses = call.has(':addresses') ? call.texts(':addresses') : undefined;
    const reason = call.checkedText(
      'reason',
      (text) => !isMime || hasAsciiHeader(text),
      'the header of the MIME entity of `vacation` must be ASCII',
    );
    const handle = handleOf(call, { subject, from, reason });
    return (run) => {
      run.take(
        {
          kind: 'vacation',
          ...run.origin(),
          handle,
          seconds,
          addresses: addresses?.read(run) ?? [],
          subject: subject?.read(run),
          from: from && readScriptMailbox(from.read(run)),
          reason: reason.read(run),
          isMime,
          copy: copyTarget(optionsOf(run)),
        },
        { leavesKeep: true },
      );
      return undefined;
    };
  },
};

function fromOf(call: Call): Text | undefined {
  if (!call.has(':from')) return undefined;
  const isMailbox = (text: string) => readScriptAddress(text) !== undefined;
  return call.checkedText(':from', isMailbox, '`:from` needs one email address');
}

/** A MIME entity has a header and a body, and its header has no 8-bit text (RFC 5230 section 5). */
function hasAsciiHeader(entity: string): boolean {
  const [header = ''] = entity.split(/\r?\n\r?\n/, 1);
  return /^[\0-\x7f]*$/.test(header);
}

type Parts = { subject: Text | undefined; from: Text | undefined; reason: Text };

/** Returns what identifies an answer. Variables in it are not replaced (RFC 5230 section 4.2). */
function handleOf(call: Call, { subject, from, reason }: Parts): string {
  const parts = call.has(':handle')
    ? ['handle', call.text(':handle').source]
    : ['answer', subject?.source ?? null, from?.source ?? null, call.has(':mime'), reason.source];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export const VACATION: Extension = { name: 'vacation', commands: [COMMAND] };

export const VACATION_SECONDS: Extension = {
  name: 'vacation-seconds',
  implies: ['vacation'],
  tags: [{ on: ['vacation'], tags: [{ name: ':seconds', value: 'number', group: 'time' }] }],
};
