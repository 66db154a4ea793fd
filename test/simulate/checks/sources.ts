/**
 * Mail for MX hosts leaves only from a source of the plan, with the name of that source, and not from one whose address the machine has
 * just been found not to have.
 */
import type { MakeCheck } from './check.ts';

/** Time within which a suspension is stored, and most of what was claimed before it has failed. */
const BEGINS_WITHIN_MS = 10_000;
/** Connections that may be made later from a source that is suspended: to the other hosts of a site, after one that has hung. */
const MAX_LATE = 12;
/** Time for which a source is suspended at least (queue/sources/sources.ts). */
const SUSPENDED_MS = 60_000;

export const checkSources: MakeCheck = ({ policies: { sources }, domains }, fail) => {
  if (sources.length === 0) return {};
  // Mail through a relay leaves from the address that the system chooses.
  const hasRelay = domains.some(({ demand }) => demand === 'relay');
  const named = new Map(sources.map(({ address, ehlo }) => [address, ehlo]));
  let missingSince = new Map<string, number>();
  let late = 0;
  return {
    observe(observation, at) {
      if (observation.kind === 'started' || observation.kind === 'commit-failed') missingSince = new Map();
      const source =
        observation.kind === 'source-missing'
          ? observation.source
          : observation.kind === 'dialled'
            ? observation.connection.source
            : undefined;
      if (source !== undefined) {
        const since = missingSince.get(source);
        const isSuspended = since !== undefined && at > since + BEGINS_WITHIN_MS && at < since + SUSPENDED_MS;
        if (isSuspended && ++late > MAX_LATE)
          fail(`a connection is made from ${source} while it is suspended`);
        if (observation.kind === 'source-missing' && (since === undefined || at >= since + SUSPENDED_MS)) {
          missingSince.set(source, at);
          late = 0;
        }
      }
      if (observation.kind === 'dialled' && source === undefined && !hasRelay)
        fail(`a connection to ${observation.connection.host.name} has no source`);
      if (observation.kind !== 'said' || !observation.line.startsWith('EHLO ')) return;
      const ehlo = named.get(observation.connection.source ?? '');
      if (ehlo !== undefined && observation.line !== `EHLO ${ehlo}`)
        fail(`a connection from ${observation.connection.source} says ${observation.line}`);
    },
  };
};
