/** Makes the hosts of a site: how fast they are, what they limit, and what goes wrong there and when. */
import type { HostPlan, HostTls, Phase, Size, Trouble, TroubleKind } from './plan.ts';
import type { Choices } from './random.ts';

const MINUTE_MS = 60_000;
/** Time after which a trouble that passes has passed. */
const MAX_TROUBLE_MS = 50 * MINUTE_MS;
const GREYLIST_MS = [MINUTE_MS, 5 * MINUTE_MS] as const;

/** The troubles of each phase. */
const TROUBLES: readonly (readonly [Phase, readonly TroubleKind[]])[] = [
  ['connect', ['hang', 'refuse', 'drop']],
  ['banner', ['hang', 'drop', 'defer', 'refuse', 'goodbye', 'garbage', 'slow']],
  ['ehlo', ['hang', 'drop', 'defer', 'goodbye', 'garbage', 'slow']],
  ['starttls', ['hang', 'drop', 'defer', 'goodbye', 'garbage']],
  ['mail', ['hang', 'drop', 'defer', 'refuse', 'goodbye', 'garbage', 'slow']],
  ['rcpt', ['hang', 'drop', 'defer', 'refuse', 'goodbye', 'garbage', 'slow']],
  ['data', ['hang', 'drop', 'defer', 'refuse', 'goodbye', 'garbage', 'slow']],
  ['body', ['hang', 'drop', 'goodbye']],
  ['dot', ['hang', 'drop', 'defer', 'refuse', 'goodbye', 'garbage', 'slow', 'lost-reply', 'lost-reply']],
  ['idle', ['drop', 'goodbye']],
];

type Place = {
  site: string;
  index: number;
  size: Size /** Domain in which the names of the hosts lie. */;
  domain: string;
};

export function makeHosts(choices: Choices, { site, index, size, domain }: Place): HostPlan[] {
  const isCalm = size === 'crowd';
  const count = isCalm || choices.chance(0.6) ? 1 : choices.between(2, 3);
  const isTroubled = !isCalm && choices.chance(0.5);
  const latencyMs = choices.pick([1, 20, 100]);
  const isPipelining = choices.chance(0.7);
  return Array.from({ length: count }, (_, position) => ({
    site,
    name: `mx${position}.${site}.${domain}`,
    address: `10.${(index >> 8) & 255}.${index & 255}.${position + 1}`,
    preference: choices.chance(0.3) ? 10 : 10 * (position + 1),
    latencyMs,
    answerMs: choices.chance(0.1) ? choices.between(500, 5_000) : choices.between(0, 50),
    isPipelining,
    tls: isCalm ? 'none' : drawTls(choices),
    maxConnections: !isCalm && choices.chance(0.2) ? choices.between(1, 3) : null,
    messagesPerConnection: choices.chance(0.2) ? choices.between(isCalm ? 3 : 1, 10) : null,
    greylistMs: !isCalm && choices.chance(0.15) ? choices.pick(GREYLIST_MS) : 0,
    troubles: isTroubled ? drawTroubles(choices) : [],
  }));
}

/** Handshakes cost more than everything else together, so few hosts offer TLS. */
function drawTls(choices: Choices): HostTls {
  return choices.chance(0.85) ? 'none' : choices.pick(['valid', 'invalid', 'broken', 'stripped'] as const);
}

function drawTroubles(choices: Choices): Trouble[] {
  if (choices.chance(0.25)) return [drawOutage(choices)];
  return Array.from({ length: choices.between(1, 3) }, () => {
    const [phase, kinds] = choices.pick(TROUBLES);
    const share = choices.pick([0.1, 0.3, 1]);
    return { phase, kind: choices.pick(kinds), share, ...drawTimes(choices) };
  });
}

/** A host that cannot be reached at all, sometimes for ever. */
function drawOutage(choices: Choices): Trouble {
  const kind = choices.pick(['hang', 'refuse'] as const);
  const { fromMs, untilMs } = drawTimes(choices);
  const lasts = choices.chance(0.15) ? Number.POSITIVE_INFINITY : untilMs;
  return { phase: 'connect', kind, share: 1, fromMs, untilMs: lasts };
}

function drawTimes(choices: Choices): Pick<Trouble, 'fromMs' | 'untilMs'> {
  const fromMs = choices.chance(0.6) ? 0 : choices.between(0, 10 * MINUTE_MS);
  const untilMs = Math.min(fromMs + choices.pick([1, 5, 20, 50]) * MINUTE_MS, MAX_TROUBLE_MS);
  return { fromMs, untilMs };
}
