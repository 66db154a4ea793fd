/** The actions that a run has taken so far, with their limits and with whether the message is still kept by itself. */
import type { Action, Target } from '../actions.ts';

/** Maximum number of redirects of one message. Our own limit, so that a message cannot be multiplied (RFC 5228 section 10). */
const MAX_REDIRECTS = 4;
/** Maximum number of actions of one run. Our own limit. */
const MAX_ACTIONS = 32;

/** Options that tags give to an action. */
export type ActionOptions = {
  /** True when the implicit keep remains (RFC 3894). */
  isCopy: boolean;
  flags: readonly string[] | undefined;
  mailboxId: string | undefined;
  specialUse: string | undefined;
  createsMailbox: boolean;
  /** Mailbox that gets a copy of what the action sends (RFC 8580). */
  fileCopyInto: string | undefined;
};

/** Returns the options of an action without tags. */
export function noOptions(): ActionOptions {
  return {
    isCopy: false,
    flags: undefined,
    mailboxId: undefined,
    specialUse: undefined,
    createsMailbox: false,
    fileCopyInto: undefined,
  };
}

/** Returns where a message is filed. */
export function targetOf(mailbox: string, options: ActionOptions, flags: readonly string[]): Target {
  const { mailboxId, specialUse, createsMailbox } = options;
  return { mailbox, mailboxId, specialUse, createsMailbox, flags };
}

export class ActionList {
  readonly actions: Action[] = [];
  /** True until an action replaces the implicit keep (RFC 5228 section 2.10.2). */
  isImplicitlyKept = true;

  /** Adds an action. Returns what is wrong with it, if anything. */
  add(action: Action): string | undefined {
    const conflict = findConflict(action, this.actions);
    if (conflict) return conflict;
    if (this.actions.some((other) => isSame(other, action))) return undefined;
    if (this.actions.length >= MAX_ACTIONS) return `a script may take ${MAX_ACTIONS} actions`;
    const redirects = this.actions.filter(({ kind }) => kind === 'redirect').length;
    if (action.kind === 'redirect' && redirects >= MAX_REDIRECTS)
      return `a script may redirect a message ${MAX_REDIRECTS} times`;
    this.actions.push(action);
    return undefined;
  }
}

/** Returns true for an action that would do the same again (RFC 5228 section 2.10.3). */
function isSame(first: Action, second: Action): boolean {
  if (first.kind === 'redirect' && second.kind === 'redirect') return first.address === second.address;
  if (first.kind === 'keep' && second.kind === 'keep') return true;
  if (first.kind !== 'fileinto' || second.kind !== 'fileinto') return false;
  return (
    first.mailbox === second.mailbox &&
    first.mailboxId === second.mailboxId &&
    first.specialUse === second.specialUse
  );
}

/** Actions that deliver the message, which contradicts a refusal, or that answer it (RFC 5429 section 2.4). */
const AGAINST_REJECT: ReadonlySet<string> = new Set(['keep', 'fileinto', 'redirect', 'vacation', 'reject']);

function findConflict(action: Action, others: readonly Action[]): string | undefined {
  if (!AGAINST_REJECT.has(action.kind)) return undefined;
  const isReject = action.kind === 'reject';
  const conflict = others.find(({ kind }) => (isReject ? AGAINST_REJECT.has(kind) : kind === 'reject'));
  if (!conflict) return undefined;
  if (isReject && conflict.kind === 'reject') return 'a message can be rejected once';
  return 'a message that is rejected cannot be delivered or answered, too';
}
