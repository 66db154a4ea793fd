/**
 * Shows the attempts at a site to those who watch, while they happen. It keeps nothing: what nobody watches is not even made into text. A
 * watcher that does not keep up is the business of its caller, which ends the watch.
 */
import type { Outcome } from '../outcome/outcome.ts';
import { isSite } from '../site-name.ts';
import { type ConversationLine, linesOfEvent } from './lines.ts';
import { connectedAt, type Entry, type Recorded } from './record.ts';

export type TraceEvent =
  /** Something was said in a session, or happened to its connection. */
  | ({ kind: 'line'; emailId: string; tenantId: string } & ConversationLine)
  /** An attempt has its outcome for a recipient. `diagnostic` is the reply, or the reason without one. */
  | {
      kind: 'outcome';
      emailId: string;
      tenantId: string;
      to: string;
      outcome: Outcome['kind'];
      host: string | null;
      diagnostic: string;
    };

/** A site by its key or one of its hosts, and the key of the site of a domain that is called the same, when one is known. */
export type WatchedSite = { name: string; siteOfDomain: string | undefined };

type Watcher = WatchedSite & { tell: (event: TraceEvent) => void };

/** The attempts that can be watched. They are shown from the thread that delivers. */
export type Traces = {
  /**
   * Tells each event at the site, until the function that it returns is called. `onDropped` is called when there are more events than
   * can be told; none follow.
   */
  watch(site: WatchedSite, tell: (event: TraceEvent) => void, onDropped: () => void): () => void;
};

export class DeliveryTrace implements Traces {
  readonly #watchers = new Set<Watcher>();

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Tells each event at the site, until the function that it returns is called. */
  watch(site: WatchedSite, tell: Watcher['tell']): () => void {
    const watcher = { ...site, tell };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Shows an entry of the conversation of a claim. */
  show(claim: Recorded, { at, event }: Entry): void {
    const watchers = this.#watchersOf(claim);
    if (watchers.length === 0) return;
    const { id: emailId, tenantId } = claim.message;
    for (const line of linesOfEvent(event, Math.round(at - (connectedAt(claim.conversation) ?? at))))
      for (const { tell } of watchers) tell({ kind: 'line', emailId, tenantId, ...line });
  }

  /** Shows the outcome of a claim for one recipient. */
  showOutcome(claim: Recorded, to: string, { kind, report }: Pick<Outcome, 'kind' | 'report'>): void {
    const { id: emailId, tenantId } = claim.message;
    for (const { tell } of this.#watchersOf(claim)) {
      const { mx: host, text: diagnostic } = report;
      tell({ kind: 'outcome', emailId, tenantId, to, outcome: kind, host, diagnostic });
    }
  }

  #watchersOf({ site }: Recorded): Watcher[] {
    return [...this.#watchers].filter(
      ({ name, siteOfDomain }) => isSite(site, name) || site === siteOfDomain,
    );
  }
}
