/** The part of the dispatcher that a session and its transport deal with. */
import type { Claim } from '../claim.ts';
import type { Experience, SessionSituation } from '../schedule/events.ts';
import type { Route } from '../site/route.ts';
import type { Addresses } from './addresses.ts';

/** The next claim of a session. `isGivenUp` is true when it must not be sent, since the peer hangs and others need the connection. */
export type NextClaim = { claim: Claim; isGivenUp: boolean };

type Reported = DistributiveOmit<Experience, 'session'>;
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

export type SessionContext = {
  /** The latest route to the site. */
  readonly route: Route;
  readonly addresses: Addresses;
  readonly messagesPerConnection: number;
  /** Resolves to the next claim; undefined when the session is to end. */
  next(situation: SessionSituation): Promise<NextClaim | undefined>;
  /** Notes that a claim is about to be sent. Returns false when nothing more may be sent, because the daemon stops. */
  startSending(claim: Claim): boolean;
  /** Takes back some recipients of a claim, for another session. */
  putBack(undecided: Claim): void;
  /** Notes that the outcome of a claim is stored. */
  settled(id: Claim['id']): void;
  /** Tells the schedule how the peer treats the session. */
  report(what: Reported): void;
  /** Returns true when a peer that delays its answer is abandoned early (mail/smtp/client/timeouts.ts). */
  isPressed(): boolean;
  /** Returns true when the site rests, so that no other session takes its mail. */
  isResting(): boolean;
  /** Returns true when the site has other connections that work. */
  isServedByOthers(): boolean;
};
