/** The actions that a run has taken so far, with their limits and with whether the message is still kept by itself. */
import { addressKey } from '../../address.ts';
import type { Action, Target } from '../actions.ts';

/** Maximum number of redirects of one message, so that it cannot be multiplied (RFC 5228 section 10). */
export const MAX_REDIRECTS = 4;
/** Maximum number of actions of one run. */
const MAX_ACTIONS = 32;

/** Options that tags give to an action. */
export type ActionOptions = {
  /** True when the implicit keep remains (RFC 3894). */
  leavesKeep: boolean;
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
    leavesKeep: false,
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
  readonly #earlier: readonly Action[];
  /** True until an action replaces the implicit keep (RFC 5228 section 2.10.2). */
  isImplicitlyKept = true;

  /** `earlier` are the actions of the scripts that ran before for the same message: limits and conflicts are about all of them. */
  constructor(earlier: readonly Action[] = []) {
    this.#earlier = earlier;
  }

  /** Adds an action. Returns what is wrong with it, if anything. */
  add(action: Action): string | undefined {
    const conflict = findConflict(action, this);
    if (conflict) return conflict;
    const same = this.all.find((other) => isSame(other, action));
    if (same) {
      // If a message is filed twice, the last flags count (RFC 5232 section 3).
      if ('flags' in same && 'flags' in action) same.flags = action.flags;
      return undefined;
    }
    if (this.all.length >= MAX_ACTIONS) return `a script may take ${MAX_ACTIONS} actions`;
    if (this.#count('redirect') >= MAX_REDIRECTS && action.kind === 'redirect')
      return `a script may redirect a message ${MAX_REDIRECTS} times`;
    if (this.#count('notify') >= MAX_NOTIFICATIONS && action.kind === 'notify')
      return `a script may send ${MAX_NOTIFICATIONS} notifications`;
    this.actions.push(action);
    return undefined;
  }

  /** The actions of all scripts. */
  get all(): readonly Action[] {
    return [...this.#earlier, ...this.actions];
  }

  #count(kind: Action['kind']): number {
    return this.all.filter((action) => action.kind === kind).length;
  }
}

/** Returns true for an action that would do the same again (RFC 5228 section 2.10.3). */
function isSame(first: Action, second: Action): boolean {
  if (first.kind === 'redirect' && second.kind === 'redirect')
    return addressKey(first.address) === addressKey(second.address);
  if (first.kind === 'keep' && second.kind === 'keep') return true;
  if (first.kind !== 'fileinto' || second.kind !== 'fileinto') return false;
  return (
    first.mailbox === second.mailbox &&
    first.mailboxId === second.mailboxId &&
    first.specialUse === second.specialUse
  );
}

/** Maximum number of notifications of one message, since each goes to any address (RFC 5435 section 8). */
const MAX_NOTIFICATIONS = 4;

/** Actions that deliver the message, which contradicts a refusal, or that answer it (RFC 5429 section 2.4). */
const AGAINST_REJECT: ReadonlySet<string> = new Set(['keep', 'fileinto', 'redirect', 'vacation']);

function findConflict(action: Action, { actions, all }: ActionList): string | undefined {
  // Each script may answer. The first answer counts (mailbox-delivery/scripts/plan.ts), and none when the message is rejected.
  const others = all.filter((other) => other.kind !== 'vacation' || actions.includes(other));
  const has = (kind: Action['kind']) => others.some((other) => other.kind === kind);
  if (action.kind === 'vacation' && has('vacation')) return 'a message can be answered by `vacation` once';
  if (action.kind === 'reject' && has('reject')) return 'a message can be rejected once';
  const isAgainst =
    action.kind === 'reject'
      ? others.some(({ kind }) => AGAINST_REJECT.has(kind))
      : AGAINST_REJECT.has(action.kind) && has('reject');
  return isAgainst ? 'a message that is rejected cannot be delivered or answered, too' : undefined;
}
