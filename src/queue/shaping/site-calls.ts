/** The functions of the delivery thread that operators use at sites: reports, the end of connections and of rests, and what is forgotten (queue/sites.ts). */
import type { KeptMail } from './kept-mail.ts';
import type { Restriction } from './restriction.ts';
import type { ConnectionReport, NamedSite, SiteReport } from './site-report.ts';

/** `connection` is null for all connections of the sites. With `force` a message that is being sent is cut off. */
export type DisconnectRequest = NamedSite & { connection: number | null; force: boolean };

/** A connection that ends: at once, since it was idle; after the message that it sends; or cut off. */
export type Disconnected = Pick<ConnectionReport, 'id' | 'host' | 'address'> & {
  site: string;
  how: 'closed' | 'after_message' | 'cut';
};

/** `restriction` is the id of one, or the name of a rule; null for everything that keeps the sites. */
export type LiftRequest = NamedSite & { restriction: string | null };

/** The result of a lift: a restriction of a rule, or the rest of a site after failures. Times are in Unix milliseconds. */
export type Lifted =
  | ({ kind: 'restriction' } & Restriction)
  | { kind: 'rest'; site: string; until: number | null; reason: string | null };

/** A site of which everything learned was forgotten, with the number of failures in a row that it had. */
export type Unlearned = { site: string; failures: number };

export type Sites = {
  /** Lists what keeps the mail of all sites. */
  listKept(): Promise<KeptMail>;
  /** The answer is empty when no mail was routed to such a site since the start. */
  explainSites(named: NamedSite): Promise<readonly SiteReport[]>;
  /** Ends connections. Mail that waits opens new ones, as the limits allow. */
  disconnect(request: DisconnectRequest): Promise<readonly Disconnected[]>;
  /** Lifts rests and restrictions. One message tries a site that has rested before others follow. */
  liftRests(request: LiftRequest): Promise<readonly Lifted[]>;
  /** Forgets the numbers of connections, failures and rests that the sites have taught, and how often their replies have met rules. */
  forgetLearned(named: NamedSite): Promise<readonly Unlearned[]>;
};
