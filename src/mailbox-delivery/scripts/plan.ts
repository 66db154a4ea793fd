/** The plan of a delivery: what scripts have decided about a message, as plain data that is kept until all of it is done. */
import type { Action, Target } from '../../mail/sieve/actions.ts';
import type { RememberedKey } from '../../mail/sieve/run/run.ts';
import type { ScriptFailure } from '../../mailboxes/scripts/script-job.ts';

/**
 * Maximum size of all copies of edited headers in a plan, in octets: each folder and each redirect has one. It bounds what a small message
 * becomes. Common headers have up to 16 KB.
 */
const MAX_EDITED_BYTES = 512 * 1024;
/** Maximum size of a plan as it is stored, in characters. It allows edited headers, in base64, and texts. */
const MAX_PLAN_CHARACTERS = 1024 * 1024;

/** A header that a script has edited, in base64 with its empty line; null for that of the message. */
type EditedHeader = { header: string | null };

/** A folder that the message is stored in. `isDefault` is true where the script names none. */
export type Filing = Target & EditedHeader & { isDefault: boolean };

type Sent<Kind extends Action['kind']> = Omit<Extract<Action, { kind: Kind }>, 'header' | 'line' | 'script'> &
  EditedHeader;
export type Redirect = Sent<'redirect'>;
export type Vacation = Sent<'vacation'>;
export type Notification = Sent<'notify'>;
export type Rejection = Sent<'reject'>;
/** Something that the mailbox sends because of the message. */
export type Outgoing = Redirect | Vacation | Notification | Rejection;

export type Plan = {
  filings: readonly Filing[];
  outgoing: readonly Outgoing[];
  /** Keys of the messages that are noticed when they come again. */
  remembered: readonly RememberedKey[];
  /** Why the scripts have failed; null when they have not. */
  failure: ScriptFailure | null;
};

const INBOX: Target = {
  mailbox: 'INBOX',
  mailboxId: undefined,
  specialUse: undefined,
  createsMailbox: false,
  flags: [],
};

/**
 * Returns the plan for the actions of scripts. Of several automatic replies, which come from several scripts, the first one counts. A
 * message that is rejected has that answer alone (RFC 5429 section 2.4).
 */
export function planOf(actions: readonly Action[], remembered: readonly RememberedKey[]): Plan {
  const filings: Filing[] = [];
  const outgoing: Outgoing[] = [];
  const isAnswered = () => outgoing.some(({ kind }) => kind === 'vacation');
  const isRejected = actions.some(({ kind }) => kind === 'reject');
  const headers = new Map<Uint8Array, string>();
  for (const { line: _line, script: _script, header: edited, ...action } of actions) {
    const header =
      edited === undefined ? null : (headers.get(edited) ?? Buffer.from(edited).toString('base64'));
    if (edited && header !== null) headers.set(edited, header);
    if (action.kind === 'keep') filings.push({ ...INBOX, flags: action.flags, header, isDefault: true });
    else if (action.kind === 'fileinto') {
      const { kind: _kind, ...target } = action;
      filings.push({ ...target, header, isDefault: false });
    } else if (action.kind !== 'vacation' || !(isRejected || isAnswered()))
      outgoing.push({ ...action, header });
  }
  return { filings, outgoing, remembered, failure: null };
}

/** Stores a message as it was received, where no script files it. */
const KEPT: Filing = { ...INBOX, header: null, isDefault: true };

/** Returns the plan as the text that is stored. Each edited header is in it once. */
export function packPlan({ filings, outgoing, ...rest }: Plan): string {
  const headers = [...new Set([...filings, ...outgoing].flatMap(({ header }) => header ?? []))];
  const pack = <Part extends EditedHeader>(part: Part) => ({
    ...part,
    header: part.header === null ? null : headers.indexOf(part.header),
  });
  return JSON.stringify({ ...rest, headers, filings: filings.map(pack), outgoing: outgoing.map(pack) });
}

type Packed<Part> = Part extends EditedHeader ? Omit<Part, 'header'> & { header: number | null } : never;
type PackedPlan = Omit<Plan, 'filings' | 'outgoing'> & {
  headers: readonly string[];
  filings: readonly Packed<Filing>[];
  outgoing: readonly Packed<Outgoing>[];
};

/** Returns the plan that `packPlan` has made a text of. */
export function unpackPlan(text: string): Plan {
  const { headers, filings, outgoing, ...rest } = JSON.parse(text) as PackedPlan;
  const unpack = <Part extends { header: number | null }>(part: Part) => ({
    ...part,
    header: part.header === null ? null : (headers[part.header] ?? null),
  });
  return {
    ...rest,
    filings: filings.map(unpack),
    outgoing: outgoing.map((part) => unpack(part) as Outgoing),
  };
}

/** Returns why a plan is too large to be carried out; undefined when it is not. */
export function excessOf(plan: Plan): string | undefined {
  const copies = [...plan.filings, ...plan.outgoing];
  const characters = copies.reduce((sum, { header }) => sum + (header?.length ?? 0), 0);
  // Base64 takes four characters for three octets.
  if ((characters / 4) * 3 > MAX_EDITED_BYTES)
    return `the headers that it has edited may have ${MAX_EDITED_BYTES} octets in all copies of a message`;
  return packPlan(plan).length > MAX_PLAN_CHARACTERS ? 'the texts of its actions are too long' : undefined;
}

/** Returns the plan for scripts that have failed: the message is kept (RFC 5228 section 2.10.6). */
export function planAfterFailure(failure: ScriptFailure): Plan {
  return { filings: [KEPT], outgoing: [], remembered: [], failure };
}

/** Returns the plan with the first `max` of its redirects. A message that is not sent somewhere, and that nothing else keeps, is kept. */
export function limitRedirects(plan: Plan, max: number): Plan {
  let redirects = 0;
  const outgoing = plan.outgoing.filter(({ kind }) => kind !== 'redirect' || ++redirects <= max);
  return keptUnless(outgoing.length === plan.outgoing.length, { ...plan, outgoing });
}

/** Returns the plan, which also keeps the message when not all is sent and nothing else stores it. */
export function keptUnless(isAllSent: boolean, plan: Plan): Plan {
  return isAllSent || plan.filings.length > 0 ? plan : { ...plan, filings: [KEPT] };
}

/**
 * Returns true when a crash between two steps of the plan would leave it half done. A plan with one step is done by one commit, so the
 * scripts may decide anew when it was not done: most messages need no write more than without a script.
 */
export function hasSeveralSteps({ filings, outgoing, remembered, failure }: Plan): boolean {
  const copies = outgoing.filter((one) => 'copy' in one && one.copy !== undefined).length;
  const hasSettlement = outgoing.length > 0 || remembered.length > 0;
  return filings.length + copies + (hasSettlement ? 1 : 0) + (failure ? 1 : 0) > 1;
}
