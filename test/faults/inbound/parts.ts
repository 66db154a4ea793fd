/** The parts of the fault tests that are about mail that comes in from other servers. */
import { describeInbound, wrongIn } from '../report.ts';
import { runInboundFullDisks } from './full-disk.ts';
import { type InboundKillOptions, runInboundKills } from './kill.ts';
import type { InboundReckoning } from './place.ts';
import { runInboundCuts } from './power-cut.ts';

type Place = {
  seed: number;
  directory: string;
  inbound: Pick<InboundKillOptions, 'kills'> & { cuts: number };
};
type Result = { ok: boolean; lines: string[] };

/** Ends the daemon with kill -9. */
export async function killReceiving({ seed, inbound }: Place): Promise<Result> {
  const verdict = await runInboundKills({ seed, kills: inbound.kills });
  const places = Object.entries(verdict.kills).map(([at, count]) => `${at} ${count}`);
  const unreached = verdict.unreached.map((at) => `not reached in time: ${at}`);
  const { ok, lines } = receivedWell([verdict], `kills: ${places.join(', ')}`);
  return { ok: ok && unreached.length === 0, lines: [...lines, ...unreached] };
}

/** Cuts the power. */
export async function cutReceiving(place: Place & { program: string }): Promise<Result> {
  const { cuts } = place.inbound;
  return receivedWell(await runInboundCuts({ ...place, cuts }), `${cuts} cuts`);
}

/** Fills the disk. */
export async function fillDiskOfReceived({ directory, seed, inbound }: Place): Promise<Result> {
  const cycles = inbound.cuts;
  const verdict = await runInboundFullDisks({ directory, seed, cycles });
  const deferrals = Object.entries(verdict.deferrals).map(([reply, count]) => `${reply} ${count}`);
  return receivedWell([verdict], `${cycles} times; put off: ${deferrals.join(', ')}`);
}

function receivedWell(verdicts: readonly InboundReckoning[], done: string): Result {
  const ok = verdicts.every(
    ({ inbound, outbound }) => inbound.faults.length === 0 && wrongIn(outbound).length === 0,
  );
  return { ok, lines: [done, ...describeInbound(verdicts)] };
}
