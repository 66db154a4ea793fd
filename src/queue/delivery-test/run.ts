/**
 * Tests the delivery to an address without a message: its route, DNS, the session with a host, and the replies up to RCPT. Everything is
 * the same as for mail, the first attempt of which this would be: the route, the hosts, the name in EHLO, the fallbacks of TLS and the
 * guards of connections.
 */
import type { App } from '../../app.ts';
import { bounceDomain } from '../../domains/records.ts';
import type { Mailbox } from '../../mail/address.ts';
import { isAsciiAddress } from '../../mail/address.ts';
import type { DeliveryTls } from '../../tls-policies/delivery-tls.ts';
import { type ConversationLine, linesOfEvent } from '../conversation/lines.ts';
import { type Conversation, connectedAt, type Recorded, recordIn } from '../conversation/record.ts';
import { evaluateResult } from '../outcome/evaluate.ts';
import { finalOutcome } from '../outcome/explain.ts';
import { NO_REPORT, type Outcome } from '../outcome/outcome.ts';
import { evaluateRelayResult } from '../outcome/relay.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import { Addresses } from '../sessions/addresses.ts';
import { type ConnectApp, connect, type OpenSession } from '../sessions/connect.ts';
import { deadEndOutcome } from '../sessions/decided-transport.ts';
import { withSecrets } from '../sessions/transact.ts';
import { chooseRoute, type Route } from '../site/route.ts';

import type { Sources } from '../sources/sources.ts';
import { describeDns, describePolicy } from './describe.ts';

export type TestEvent =
  | { kind: 'step'; step: 'route' | 'dns' | 'policy'; text: string }
  | ({ kind: 'line' } & ConversationLine)
  /** `isAccepted` is true when the server would take a message for the address, as far as it says before it has one. */
  | {
      kind: 'result';
      isAccepted: boolean;
      outcome: Outcome['kind'];
      text: string;
      class: string | null;
      advice: string | null;
    };

/** Maximum time of a test, in milliseconds. A person waits for it, so it is shorter than the time that mail has. */
const MAX_TEST_MS = 90_000;

/** The deferral that follows would otherwise look as if the mail were tried for days. */
const ASKED_AGAIN =
  'the domain is looked up again after an hour, and the mail bounces if it still does not exist';

type TestApp = App & { replies: Replies; sources: Sources; tls: DeliveryTls };
type Tested = {
  to: Pick<Mailbox, 'address' | 'domain'>;
  /** Tenant whose outbound routes count; empty for those of all tenants. */
  tenantId: string;
  tell: (event: TestEvent) => void;
  /** Ends the test early, also while it connects. */
  signal: AbortSignal;
};
type HostsRoute = Extract<Route, { kind: 'hosts' }>;

/** Runs the test, and tells each step as it happens. The last event is the result. */
export async function testDelivery(app: TestApp, tested: Tested): Promise<void> {
  const { to, tenantId, tell } = tested;
  const { domain } = to;
  const route = await chooseRoute(app, {
    mode: 'live',
    kind: 'transactional',
    tenantId,
    domain,
    target: undefined,
  });
  if (route.kind === 'wait') {
    const report = { ...NO_REPORT, phase: 'local', text: route.reason, fact: 'local' } as const;
    return tellOutcome(app, tested, { kind: 'deferred', report });
  }
  tell({ kind: 'step', step: 'route', text: describeRoute(route) });
  switch (route.kind) {
    case 'simulator':
    case 'local':
      return tellAccepted(tell, 'nothing is sent to another host');
    case 'dead-end':
      if (route.plan.kind === 'no-domain') tell({ kind: 'step', step: 'dns', text: ASKED_AGAIN });
      return tellOutcome(app, tested, deadEndOutcome(domain, route.plan, { recipients: [] }));
    case 'hosts':
      for (const text of await describeDns(app, domain, route)) tell({ kind: 'step', step: 'dns', text });
      for (const text of describePolicy(route)) tell({ kind: 'step', step: 'policy', text });
      return testSession(app, route, tested);
  }
}

function describeRoute(route: Route): string {
  switch (route.kind) {
    case 'simulator':
      return 'the simulator';
    case 'local':
      return 'this installation receives the mail of the domain itself';
    case 'dead-end':
      return 'none, because of what DNS says';
    case 'hosts':
      if (route.relay) return `the relay of the outbound route "${route.relay.route}"`;
      return route.source
        ? `the hosts of the domain, from the source "${route.source.name}"`
        : 'the hosts of the domain';
  }
}

async function testSession(app: TestApp, route: HostsRoute, tested: Tested): Promise<void> {
  const { to, tell, signal } = tested;
  const deadline = app.clock.elapsed() + MAX_TEST_MS;
  const conversation: Conversation = [];
  const claim = {
    site: route.site,
    conversation,
    brokenOff: undefined,
    message: {
      id: '',
      tenantId: tested.tenantId,
      datedAt: app.clock.now(),
      requireTls: 0,
      returnPath: null,
      utf8: isAsciiAddress(to.address) ? 0 : 1,
    },
    recipients: [{ attempts: 1, domain: to.domain, queue: '' }],
  } as const;
  const trace = {
    isWatched: true,
    show: (_claim: Recorded, { at, event }: Conversation[number]) => {
      for (const line of linesOfEvent(event, Math.round(at - (connectedAt(conversation) ?? at))))
        tell({ kind: 'line', ...line });
    },
  };
  const world: ConnectApp = {
    ...app,
    // A test is no mail, so the reports about TLS do not count it.
    tls: { tickets: app.tls.tickets, observe() {} },
    trace,
    dial: (target) => app.dial({ ...target, signal }),
    sources: { dialFrom: (source) => (target) => app.sources.dialFrom(source)({ ...target, signal }) },
  };
  const opening = { claim, addresses: new Addresses(), deadline, isPressed: () => false };
  const connected = await connect(world, route, opening);
  if (connected.kind === 'closed') return tellOutcome(app, tested, connected.outcome);
  const { session } = connected;
  const timer = app.clock.after(deadline - app.clock.elapsed(), () => session.smtp.close());
  try {
    tellOutcome(app, tested, await probe(app, session, { to: to.address, observer: recordIn(world, claim) }));
    await session.smtp.quit();
  } finally {
    timer.cancel();
    session.smtp.close();
  }
}

type Probe = { to: string; observer: ReturnType<typeof recordIn> };

/** Asks the server for the address, and returns what a message would have become so far. */
async function probe(
  app: TestApp,
  { smtp, peer, relay }: OpenSession,
  { to, observer }: Probe,
): Promise<Outcome> {
  const empty = Buffer.alloc(0);
  const probed = await smtp.probe({
    // An address of this installation, which receivers can check as they check those of mail.
    mailFrom: `postmaster@${bounceDomain(app.config)}`,
    recipients: [to],
    prefix: empty,
    message: { sizeBytes: 0, isEightBit: false, inline: empty, chunks: noChunks },
    utf8: !isAsciiAddress(to),
    observer,
  });
  const evaluate = relay ? evaluateRelayResult : evaluateResult;
  const result = probed.kind === 'failed' ? { ...probed, dotSent: false, untried: false } : probed;
  return withSecrets(evaluate(app.replies, peer, result), smtp.secrets);
}

async function* noChunks(): AsyncIterable<Uint8Array> {}

function tellAccepted(tell: Tested['tell'], text: string): void {
  tell({ kind: 'result', isAccepted: true, outcome: 'delivered', text, class: null, advice: null });
}

function tellOutcome({ replies, clock }: TestApp, { to, tell }: Tested, outcome: Outcome): void {
  const now = clock.now();
  const message = { datedAt: now, expiresAt: now + 1 };
  const context = { table: replies.table, message, recipientDomain: to.domain, now };
  const final = finalOutcome(outcome, context);
  const { kind: outcomeKind, report } = final;
  const { class: replyClass = null, advice = null } = 'meaning' in final ? final.meaning : {};
  tell({
    kind: 'result',
    isAccepted: outcomeKind === 'delivered',
    outcome: outcomeKind,
    text: report.text,
    class: replyClass,
    advice,
  });
}
